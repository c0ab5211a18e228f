"""The package zstandard, which packs backups and files of the archive where it is installed (extra `zstd`)."""

from typing import Any

from schemas.extras import is_installed, load_with

_PACKAGE = "zstandard"


def zstd_is_installed() -> bool:
    """Whether files can be packed with zstd here, and unpacked."""
    return is_installed(_PACKAGE)


def zstandard() -> Any:
    """The package. Raises MissingExtra where it is not installed."""
    return load_with(_PACKAGE, _PACKAGE, _PACKAGE, "zstd")
