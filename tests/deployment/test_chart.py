"""The Helm chart over files of values: it lints, renders what an API server takes, refuses what cannot be."""

import json
from pathlib import Path

import pytest
from rendered import CHART, KUBERNETES, Manifest, asked, charted, environment, named, of_kind, pods, template, tool
from resources import complaints

from beliefmesh.settings import environment_name
from stores.kafka.log import topic_settings
from stores.kafka.options import KafkaOptions
from streams.topics import CHANGES, CLAIMS, OBSERVATIONS, RECALL_LOG, Topics

VALUES = sorted(path.name for path in (CHART / "ci").glob("*.yaml"))


def chart(values: str) -> list[Manifest]:
    return charted(str(CHART / "ci" / values))


def only(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = of_kind(manifests, kind)
    return found


def refusal(*sets: str) -> str:
    flags = [word for each in sets for word in ("--set", each)]
    done = asked(*template(str(CHART / "ci" / "minimal.yaml")), *flags)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize("values", VALUES)
def test_it_lints(values: str) -> None:
    flags = ("--strict", "--kube-version", f"{KUBERNETES}.0", "--values", str(CHART / "ci" / values))
    done = asked(tool("helm"), "lint", str(CHART), *flags)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("values", VALUES)
def test_an_api_server_would_take_every_manifest(values: str) -> None:
    assert [complaint for manifest in chart(values) for complaint in complaints(manifest)] == []


def test_an_api_server_would_refuse_fields_that_are_none() -> None:
    ray = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r"},
        "spec": {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": {"containers": [{"imagine": "x"}]}}}},
    }
    tool("helm")
    assert any("imagine" in complaint for complaint in complaints(ray))
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"port": []}}
    assert complaints(service) != []
    assert complaints({**ray, "kind": "RayCloud"}) == ["RayCloud/r: no schema for ray.io/v1 RayCloud"]


@pytest.mark.parametrize("values", VALUES)
def test_no_two_manifests_have_one_name(values: str) -> None:
    names = [named(manifest) for manifest in chart(values)]
    assert sorted(set(names)) == sorted(names)


def test_embedded_it_is_one_pod_that_keeps_its_volume() -> None:
    manifests = chart("minimal.yaml")
    assert [pod.owner for pod in pods(manifests)] == ["StatefulSet/demo-beliefmesh-keeper"]
    claim = only(manifests, "PersistentVolumeClaim")
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}


def test_in_a_cluster_it_has_api_workers_and_one_keeper() -> None:
    owners = [pod.owner for pod in pods(chart("cluster.yaml"))]
    assert sorted(owners) == ["Deployment/memory-api", "StatefulSet/memory-keeper", "StatefulSet/memory-worker"]


def test_on_ray_the_keeper_runs_beside_the_head_where_jobs_run_too() -> None:
    lasting = [pod for pod in pods(chart("production.yaml")) if pod.lasting]
    owners = {pod.owner: [each["name"] for each in pod.containers()] for pod in lasting}
    assert owners == {
        "Deployment/demo-beliefmesh-api": ["ray", "api"],
        "StatefulSet/demo-beliefmesh-worker": ["ray", "worker"],
        "RayCluster/demo-beliefmesh/head": ["ray-head", "keeper"],
        "RayCluster/demo-beliefmesh/cpu": ["ray-worker"],
        "RayCluster/demo-beliefmesh/gpu": ["ray-worker"],
    }


def test_actors_run_on_the_nodes_for_them_only_and_on_a_gpu_where_one_is_wanted() -> None:
    manifests = chart("production.yaml")
    settings = only([each for each in manifests if each["metadata"]["name"] == "demo-beliefmesh"], "ConfigMap")["data"]
    cluster = only(manifests, "RayCluster")["spec"]
    resource = settings[environment_name("mesh.resource")]
    groups = {group["groupName"]: group["rayStartParams"] for group in cluster["workerGroupSpecs"]}
    assert [json.loads(json.loads(start["resources"])) for start in groups.values()] == [{resource: 1}, {resource: 1}]
    assert (groups["cpu"]["num-gpus"], groups["gpu"]["num-gpus"]) == ("0", "1")
    assert settings[environment_name("mesh.gpus")] == "1"
    assert "resources" not in cluster["headGroupSpec"]["rayStartParams"]


def test_workers_are_scaled_by_the_lag_of_their_own_group_up_to_the_number_of_partitions() -> None:
    scaled = only(chart("production.yaml"), "ScaledObject")["spec"]
    topics = Topics(prefix="support-", space="blue")
    assert scaled["maxReplicaCount"] == 48
    assert scaled["scaleTargetRef"]["name"] == "demo-beliefmesh-worker"
    assert [(each["metadata"]["topic"], each["metadata"]["consumerGroup"]) for each in scaled["triggers"]] == [
        (topics.name(topic), topics.group) for topic in (OBSERVATIONS, CLAIMS, CHANGES)
    ]


def test_a_worker_keeps_its_name_in_the_group_and_has_time_to_drain() -> None:
    manifests = chart("production.yaml")
    (pod,) = [pod for pod in pods(manifests) if pod.owner.endswith("-worker")]
    told = environment(pod.containers()[-1], manifests)
    assert environment_name("kafka.instance") in told
    drain = told[environment_name("kafka.drain_timeout")]
    assert drain is not None
    assert pod.spec["terminationGracePeriodSeconds"] > float(drain)


def test_whatever_drains_has_the_time_for_it() -> None:
    for values in ("minimal.yaml", "cluster.yaml"):
        manifests = chart(values)
        for pod in pods(manifests):
            told = environment(pod.containers()[-1], manifests)
            drain, delay = told[environment_name("http.drain_timeout")], told[environment_name("http.stop_delay")]
            assert drain is not None
            assert delay is not None
            assert float(delay) > 0.0
            assert pod.spec["terminationGracePeriodSeconds"] > float(drain) + float(delay), pod.owner


def test_a_backlog_keeps_an_embedded_mesh_from_starting_for_hours_and_a_process_of_a_cluster_not_at_all() -> None:
    def waits(values: str) -> set[tuple[str, int]]:
        probes = [pod.containers()[-1]["startupProbe"] for pod in pods(chart(values))]
        return {(each["httpGet"]["path"], each["periodSeconds"] * each["failureThreshold"]) for each in probes}

    assert waits("minimal.yaml") == {("/health/started", 2 * 3600)}
    assert waits("cluster.yaml") == {("/health/live", 600)}


def test_workers_that_stand_still_do_not_take_the_api_out_of_its_service() -> None:
    def asks(values: str) -> set[str]:
        return {pod.containers()[-1]["readinessProbe"]["httpGet"]["path"] for pod in pods(chart(values))}

    assert asks("cluster.yaml") == {"/health/ready?group=false"}
    assert asks("minimal.yaml") == {"/health/ready"}


def test_only_the_keeper_runs_jobs() -> None:
    manifests = chart("cluster.yaml")
    enabled = {
        pod.owner: environment(pod.containers()[-1], manifests).get(environment_name("jobs.enabled"), "true")
        for pod in pods(manifests)
        if pod.containers()[-1]["args"] == ["serve"]
    }
    assert enabled == {"Deployment/memory-api": "false", "StatefulSet/memory-keeper": "true"}


def test_on_ray_jobs_run_by_a_clock_in_the_cluster_and_by_no_other_schedule() -> None:
    manifests = chart("production.yaml")
    submitted = {
        named(each): each["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]["args"]
        for each in of_kind(manifests, "CronJob")
    }
    to = ["--address=http://demo-beliefmesh-head-svc:8265", "--wait", "--cpus=0", "--gpus=0"]
    assert submitted == {
        "CronJob/demo-beliefmesh-decay": ["jobs", "submit", "decay", *to],
        "CronJob/demo-beliefmesh-budget": ["jobs", "submit", "budget", *to],
        "CronJob/demo-beliefmesh-compaction-support": ["jobs", "submit", "compaction", *to, "--bank=support"],
        "CronJob/demo-beliefmesh-calibrate": ["jobs", "submit", "calibrate", *to],
        "CronJob/demo-beliefmesh-archive": ["jobs", "submit", "archive", *to, "--set=after_days=90"],
    }
    (head,) = [pod for pod in pods(manifests) if pod.owner.endswith("/head")]
    keeper = head.containers()[-1]
    assert environment(keeper, manifests)[environment_name("jobs.enabled")] == "false"


def test_the_dashboard_and_the_alerts_are_those_of_the_files() -> None:
    manifests = chart("production.yaml")
    (board,) = [each for each in of_kind(manifests, "ConfigMap") if each["metadata"]["name"].endswith("-dashboards")]
    told = json.loads(board["data"]["beliefmesh.json"])
    assert told == json.loads((CHART / "dashboards" / "beliefmesh.json").read_text(encoding="utf-8"))
    assert only(manifests, "PrometheusRule")["spec"]["groups"]


MADE_BY_OPERATORS = {"Kafka", "KafkaNodePool", "KafkaTopic", "KafkaUser", "NebulaCluster", "Milvus"}


def test_no_operator_is_asked_for_anything_unless_the_values_say_so() -> None:
    for values in set(VALUES) - {"operators.yaml"}:
        assert of_kind(chart(values), *MADE_BY_OPERATORS) == [], values
    assert {each["kind"] for each in chart("operators.yaml")} >= MADE_BY_OPERATORS


def test_settings_lead_to_what_the_operators_make_by_the_names_that_they_give_it() -> None:
    manifests = chart("operators.yaml")
    made = {
        kind: only(manifests, kind)["metadata"]["name"] for kind in ("Kafka", "KafkaUser", "NebulaCluster", "Milvus")
    }
    told = only([each for each in manifests if each["metadata"]["name"] == "demo-beliefmesh"], "ConfigMap")["data"]
    (api,) = [pod for pod in pods(manifests) if pod.owner.endswith("-api")]
    secrets = {
        each["name"]: each["valueFrom"]["secretKeyRef"] for each in api.containers()[-1]["env"] if "valueFrom" in each
    }
    (ca,) = [volume["secret"] for volume in api.spec["volumes"] if volume["name"] == "kafka-ca"]

    assert told[environment_name("stores.log")] == f"kafka://{made['Kafka']}-kafka-bootstrap.mesh.svc:9093"
    assert told[environment_name("stores.graph")] == (
        f"nebula://{made['NebulaCluster']}-graphd-svc.mesh.svc:9669/beliefmesh?replicas=3"
    )
    assert told[environment_name("stores.index")] == f"milvus://{made['Milvus']}-milvus.mesh.svc:19530/beliefmesh"
    assert told[environment_name("kafka.username")] == made["KafkaUser"]
    assert secrets == {environment_name("kafka.password"): {"name": made["KafkaUser"], "key": "password"}}
    assert ca["secretName"] == f"{made['Kafka']}-cluster-ca-cert"
    (listener,) = only(manifests, "Kafka")["spec"]["kafka"]["listeners"]
    assert (listener["port"], listener["tls"], listener["authentication"]["type"]) == (9093, True, "scram-sha-512")


def test_a_url_in_a_secret_goes_before_the_one_that_would_follow() -> None:
    flags = ("--set", "graph.urlSecret.name=mine", "--set", "index.url=milvus://elsewhere:19530/m")
    manifests = charted(str(CHART / "ci" / "operators.yaml"), *flags)
    told = only([each for each in manifests if each["metadata"]["name"] == "demo-beliefmesh"], "ConfigMap")["data"]

    assert environment_name("stores.graph") not in told
    assert told[environment_name("stores.index")] == "milvus://elsewhere:19530/m"


def test_topics_are_asked_for_as_the_mesh_itself_would_make_them() -> None:
    options = KafkaOptions(observations_days=365)
    days = {OBSERVATIONS: 365, CLAIMS: options.claims_days, RECALL_LOG: options.recall_log_days}
    asked = {each["spec"]["topicName"]: each["spec"] for each in of_kind(chart("operators.yaml"), "KafkaTopic")}

    wanted = {
        name: (plan.partitions, 3, topic_settings(name, plan, options))
        for name, plan in Topics("support-", 12, days=days).plans().items()
    }
    found = {
        name: (spec["partitions"], spec["replicas"], {key: str(value) for key, value in spec["config"].items()})
        for name, spec in asked.items()
    }
    assert found == wanted


@pytest.mark.parametrize("prefix", ["support-", ""])
def test_the_user_may_use_the_topics_and_groups_of_the_mesh_and_no_others(prefix: str) -> None:
    manifests = charted(str(CHART / "ci" / "operators.yaml"), "--set", f"settings.streams.prefix={prefix}")
    rules = {rule["resource"]["type"]: rule for rule in only(manifests, "KafkaUser")["spec"]["authorization"]["acls"]}

    assert rules["topic"]["resource"] == (
        {"type": "topic", "name": prefix, "patternType": "prefix"}
        if prefix
        else {"type": "topic", "name": "*", "patternType": "literal"}
    )
    assert Topics(prefix, space="blue").group.startswith(rules["group"]["resource"]["name"])
    assert {"Read", "Write", "Create", "Describe"} <= set(rules["topic"]["operations"])


def test_what_holds_data_stays_when_the_release_goes() -> None:
    kept = [
        named(each)
        for each in of_kind(chart("operators.yaml"), *MADE_BY_OPERATORS - {"KafkaUser"})
        if each["metadata"].get("annotations") != {"helm.sh/resource-policy": "keep"}
    ]
    assert kept == []


def test_changed_settings_start_the_pods_anew() -> None:
    def marks(*flags: str) -> set[str]:
        manifests = charted(str(CHART / "ci" / "minimal.yaml"), *flags)
        return {pod.metadata["annotations"]["checksum/settings"] for pod in pods(manifests)}

    assert marks() == marks()
    assert marks() & marks("--set", "settings.recall.limit=30") == set()


@pytest.mark.parametrize(
    ("set_", "told"),
    [
        ("access.unauthenticated=false", "access: set keysSecret, jwks or jwtSecret"),
        ("access.keysSecret=k", "access.unauthenticated: keys or tokens are set"),
        ("topology=cluster", "kafka.bootstrap: topology cluster needs the brokers"),
        ("ray.enabled=true", "ray.enabled: needs topology cluster"),
        ("cronJobs[0].job=decay,cronJobs[0].schedule=0 * * * *", "cronJobs: need ray.enabled"),
        ("cronJobs[0].job=decay,cronJobs[0].schedule=hourly", "at '/cronJobs/0/schedule'"),
        ("ingress.enabled=true", "ingress.host: name the host"),
        ("image.tag=latest", "at '/image/tag'"),
        ("worker.replica=3", "additional properties 'replica' not allowed"),
        ("kafka.partitions=0", "at '/kafka/partitions'"),
        ("kafka.strimzi.enabled=true", "kafka.strimzi, graph.operator, index.operator: need topology cluster"),
        ("topology=cluster,kafka.strimzi.enabled=true", "graph: topology cluster needs url or urlSecret, or graph.op"),
        ("graph.operator.metad.replicas=2", "at '/graph/operator/metad/replicas'"),
        ("index.operator.image=milvusdb/milvus:latest", "at '/index/operator/image'"),
        ("keeper.resources.limits.memory=null", "at '/keeper/resources/limits'"),
    ],
)
def test_values_that_cannot_be_are_refused_by_name(set_: str, told: str) -> None:
    assert told in refusal(set_)


def test_a_mesh_without_a_graph_or_an_index_is_refused() -> None:
    brokers = ("topology=cluster", "kafka.bootstrap={k:9092}")
    assert "graph: topology cluster needs url or urlSecret" in refusal(*brokers)
    assert "index: topology cluster needs url or urlSecret" in refusal(*brokers, "graph.url=nebula://g:9669/m")


def test_a_kafka_that_is_made_is_not_also_named() -> None:
    made = (
        "topology=cluster",
        "kafka.strimzi.enabled=true",
        "graph.operator.enabled=true",
        "index.operator.enabled=true",
    )
    assert "kafka.strimzi: makes brokers and a user" in refusal(*made, "kafka.bootstrap={k:9092}")
    assert "kafka.replication: is above kafka.strimzi.replicas" in refusal(*made, "kafka.strimzi.replicas=1")


def test_every_value_is_described() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    assert schema["additionalProperties"] is False
    page = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text(encoding="utf-8")
    assert [name for name in schema["properties"] if f"`{name}" not in page and name != "global"] == []
