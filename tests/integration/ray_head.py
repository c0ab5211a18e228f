"""A Ray on this machine that takes jobs: prints where, and ends when standard input does."""

import sys
from functools import partial

import ray
from ray._private import parameter


def main(cpus: str, port: str) -> None:
    """Start it with so many CPUs and no GPU.

    The agent that starts jobs wants a port of a fixed number, for which `init` has no argument, and does without jobs
    where another Ray on this machine has it: it gets a free one.
    """
    parameter.RayParams = partial(parameter.RayParams, dashboard_agent_listen_port=0)
    context = ray.init(
        num_cpus=int(cpus),
        num_gpus=0,
        include_dashboard=True,
        dashboard_host="127.0.0.1",
        dashboard_port=int(port),
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
    )
    print(context.dashboard_url, flush=True)
    sys.stdin.read()
    ray.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:])
