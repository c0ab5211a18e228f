"""The front door of Beliefmesh: settings, client library, command line, HTTP API."""

import os

from beliefmesh.settings import quiet_threads

quiet_threads(os.environ)  # before numpy loads, which the imports below do

from beliefmesh.aio import AsyncMemory  # noqa: E402
from beliefmesh.memory import Memory  # noqa: E402
from beliefmesh.remote import RemoteMemory  # noqa: E402

__version__ = "0.1.0"
__all__ = ["AsyncMemory", "Memory", "RemoteMemory", "__version__"]
