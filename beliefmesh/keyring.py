"""API keys: made once and told once, kept in a file as hashes, each with its grant and perhaps an end."""

import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import msgspec

from beliefmesh.grant import Grant, Role, check_patterns
from schemas.errors import InvalidInput, InvalidSetting, NotAuthenticated, NotFound
from schemas.instant import Instant
from schemas.limits import check_name

_PREFIX = "bm"
_ID_BYTES, _SECRET_BYTES = 6, 32
_OWNER_ONLY = 0o600


class Key(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A key as it is kept: `hash` is SHA-256 of its secret, which has 256 random bits and needs no slow hash."""

    id: str
    hash: str
    created_at: Instant
    ends_at: Instant | None = None
    grant: Grant

    def ended(self, now: Instant) -> bool:
        """Whether it no longer opens anything."""
        return self.ends_at is not None and self.ends_at <= now


class _Ring(msgspec.Struct, frozen=True):
    version: int
    keys: tuple[Key, ...] = ()


class KeyRing:
    """The keys in a file; several processes may read it while one command changes it, and see the change at once."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._read: tuple[tuple[int, int, int], dict[str, Key]] | None = None

    def exists(self) -> bool:
        """Whether there is a file of keys, with any in it or none."""
        return self.path.exists()

    def keys(self) -> list[Key]:
        """All keys, also ended ones, oldest first. Raises InvalidSetting for a file that is none of ours."""
        return list(self._keys().values())

    def grant_of(self, token: str, now: Instant) -> Grant:
        """What a key opens. Raises NotAuthenticated for one that is unknown or has ended, without saying which."""
        id, secret = _parts(token)
        key = self._keys().get(id)
        expected = key.hash if key is not None else _hashed("")
        if not hmac.compare_digest(_hashed(secret), expected) or key is None or key.ended(now):
            raise NotAuthenticated("this key opens nothing; ask who runs the mesh for one")
        return key.grant

    def create(self, grant: Grant, now: Instant, ends_at: Instant | None = None) -> str:
        """Add a key and return it: this is the only time that it is seen. Raises InvalidInput for a name in use."""
        check_name(grant.name, "name")
        check_patterns(grant.banks)
        if grant.role not in get_args(Role):
            raise InvalidInput("role", f"is {grant.role!r}; use one of {', '.join(get_args(Role))}")
        with self._changing() as keys:
            if any(key.grant.name == grant.name and not key.ended(now) for key in keys):
                raise InvalidInput("name", f"{grant.name!r} has a key; rotate it, revoke it, or take another name")
            return _added(keys, grant, now, ends_at)

    def rotate(self, name: str, now: Instant, grace: Instant) -> str:
        """Add a key with the same grant and end, and let the former ones end after `grace`. Raises NotFound."""
        with self._changing() as keys:
            former = [at for at, key in enumerate(keys) if key.grant.name == name and not key.ended(now)]
            if not former:
                raise NotFound(f"no key is named {name!r}; `beliefmesh keys list` shows those there are")
            grant, ends_at = keys[former[-1]].grant, keys[former[-1]].ends_at
            for at in former:
                ends = now + grace
                keys[at] = msgspec.structs.replace(keys[at], ends_at=min(keys[at].ends_at or ends, ends))
            return _added(keys, grant, now, ends_at)

    def revoke(self, name: str) -> int:
        """Take every key of a name away, at once; returns how many. Raises NotFound."""
        with self._changing() as keys:
            left = [key for key in keys if key.grant.name != name]
            gone = len(keys) - len(left)
            if not gone:
                raise NotFound(f"no key is named {name!r}; `beliefmesh keys list` shows those there are")
            keys[:] = left
        return gone

    def _keys(self) -> dict[str, Key]:
        """The keys by id, read again whenever the file is another one than last time."""
        try:
            told = self.path.stat()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise InvalidSetting(f"access.keys: {self.path} cannot be read ({error.strerror})") from error
        mark = (told.st_mtime_ns, told.st_size, told.st_ino)
        if self._read is None or self._read[0] != mark:
            self._read = (mark, {key.id: key for key in _load(self.path)})
        return self._read[1]

    @contextmanager
    def _changing(self) -> Iterator[list[Key]]:
        """The keys, to be changed in place; what is there after the block takes the file's place in one step."""
        coming = self.path.with_name(f"{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.with_name(f"{self.path.name}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                keys = _load(self.path) if self.path.exists() else []
                yield keys
                with open(coming, "wb", opener=owner_only) as file:
                    file.write(msgspec.json.format(msgspec.json.encode(_Ring(1, tuple(keys)))) + b"\n")
                    file.flush()
                    os.fsync(file.fileno())
                coming.replace(self.path)
        except OSError as error:
            raise InvalidSetting(f"access.keys: {self.path} cannot be written ({error.strerror})") from error


def _added(keys: list[Key], grant: Grant, now: Instant, ends_at: Instant | None) -> str:
    id, secret = secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES)
    keys.append(Key(id=id, hash=_hashed(secret), created_at=now, ends_at=ends_at, grant=grant))
    return f"{_PREFIX}_{id}_{secret}"


def _parts(token: str) -> tuple[str, str]:
    prefix, _, rest = token.partition("_")
    id, _, secret = rest.partition("_")
    return (id, secret) if prefix == _PREFIX else ("", "")


def is_key(token: str) -> bool:
    """Whether a bearer token is shaped like one of our keys."""
    return token.startswith(f"{_PREFIX}_")


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _load(path: Path) -> list[Key]:
    try:
        ring = msgspec.json.decode(path.read_bytes(), type=_Ring)
    except OSError as error:
        raise InvalidSetting(f"access.keys: {path} cannot be read ({error.strerror})") from error
    except msgspec.DecodeError as error:
        raise InvalidSetting(
            f"access.keys: {path} is not a file of keys ({error}); restore it or make new keys"
        ) from error
    if ring.version != 1:
        raise InvalidSetting(f"access.keys: {path} was written by a newer release; upgrade Beliefmesh")
    return list(ring.keys)


def owner_only(path: str, flags: int) -> int:
    """Open a file, made if need be, that only its owner may read; an `opener` for `open`."""
    return os.open(path, flags, _OWNER_ONLY)
