"""Packages that only some need: whether one is installed, and the modules of ours that are loaded only with it."""

import importlib
import importlib.util
import sys
from types import ModuleType

from schemas.errors import MissingExtra


def is_installed(package: str) -> bool:
    """Whether a package can be imported, found out without importing it (of a dotted name, the last part)."""
    try:
        return package in sys.modules or importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def load_with(package: str, distribution: str, module: str, extra: str = "cluster") -> ModuleType:
    """Import a module of ours that needs a package. Raises MissingExtra, naming what to install, without it."""
    if not is_installed(package):
        raise MissingExtra(f"{distribution} is not installed; install beliefmesh[{extra}]")
    return importlib.import_module(module)
