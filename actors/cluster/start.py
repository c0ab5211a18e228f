"""Starting Ray on this machine, and joining a Ray that runs elsewhere."""

import logging
import os
import signal
from collections.abc import Mapping
from threading import current_thread, main_thread
from typing import Any

import ray

from actors.shared import AUTO, Pulse, address_of
from schemas.errors import InvalidSetting, StoreUnavailable

NAMESPACE = "beliefmesh"
_NEW = "local"
"""Without it Ray takes part in whichever cluster it finds running on the machine, or named in the environment."""

_EVEN = {"RAY_worker_niceness": "0"}
"""By itself Ray lets its workers have only what all else on the machine leaves: beside two busy processes on two cores,
6 % of one."""
_OUTLIVE = {"RAY_gcs_rpc_server_reconnect_timeout_s": "1000000"}
_NO_SHARED_MEMORY = {"RAY_max_direct_call_object_size": "268435456", "RAY_task_rpc_inlined_bytes_limit": "268435456"}
"""By itself Ray ends a process that joined, without a word, a minute after its cluster went, or as soon as it asks
that cluster's shared memory for something (docs/decisions.md)."""


def start_ray() -> bool:
    """Start Ray on this machine, bound to loopback, without dashboard or usage statistics; False if it runs already.

    Raises StoreUnavailable where it does not start.
    """
    if ray.is_initialized():
        return False
    try:
        _init(_EVEN | _NO_SHARED_MEMORY, address=_NEW, include_dashboard=False, _node_ip_address="127.0.0.1")
    except Exception as error:  # a node that takes too long raises no narrower one
        raise StoreUnavailable(f"Ray does not start on this machine: {error}; --runtime inline needs none") from error
    return True


def join_ray(address: str) -> bool:
    """Connect to a Ray cluster that has a node on this machine; False if this process is connected to it already.

    Raises StoreUnavailable where none answers, InvalidSetting for what is no address, and for a second cluster.
    """
    wanted = address_of(address)
    if ray.is_initialized():
        running = ray.get_runtime_context().gcs_address
        if wanted not in (AUTO, running):
            raise InvalidSetting(f"mesh.address: is {address}, but this process is connected to Ray at {running}")
        return False
    if wanted != AUTO and not Pulse(wanted).beats():
        raise StoreUnavailable(f"no Ray cluster answers at {wanted}; `beliefmesh actors` starts one on this machine")
    try:
        _init(_OUTLIVE | _NO_SHARED_MEMORY, address=wanted)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise StoreUnavailable(f"mesh.address: cannot join the Ray cluster at {wanted}: {error}") from error
    return True


def _init(options: Mapping[str, str], **where: Any) -> None:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    for option, value in {"RAY_AUTH_MODE": "disabled", **options}.items():
        os.environ.setdefault(option, value)
    before = signal.getsignal(signal.SIGTERM)
    ray.init(log_to_driver=False, logging_level=logging.ERROR, namespace=NAMESPACE, **where)
    if callable(before) and current_thread() is main_thread():
        signal.signal(signal.SIGTERM, before)  # Ray has put its own in the place of the caller's
