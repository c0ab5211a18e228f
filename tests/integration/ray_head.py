"""A Ray on this machine that takes jobs: prints where, and ends when standard input does."""

import sys

import ray


def main(cpus: str, port: str) -> None:
    """Start it with so many CPUs and no GPU."""
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
