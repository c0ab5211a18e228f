"""Ray is loaded first: after usearch, starting it would end the process (docs/decisions.md)."""

import importlib

from actors.choose import ray_is_installed

if ray_is_installed():
    importlib.import_module("actors.cluster")
