"""Keys: told once, kept as hashes, ended by time, by rotation, by revocation; seen at once by who reads the file."""

import os
from pathlib import Path

import pytest

from beliefmesh.grant import Grant
from beliefmesh.keyring import KeyRing, is_key
from schemas.errors import InvalidInput, InvalidSetting, NotAuthenticated, NotFound
from schemas.instant import HOUR

NOW = 1_718_020_800_000_000
READER = Grant(name="reports", role="reader", banks=("acme",), principal="reporter")


@pytest.fixture
def ring(tmp_path: Path) -> KeyRing:
    """An empty ring."""
    return KeyRing(tmp_path / "keys.json")


def test_a_key_opens_its_grant_and_the_file_does_not_hold_it(ring: KeyRing) -> None:
    token = ring.create(READER, NOW)

    assert is_key(token)
    assert ring.grant_of(token, NOW) == READER
    assert token.rpartition("_")[2].encode() not in ring.path.read_bytes()
    assert os.stat(ring.path).st_mode & 0o077 == 0


def test_what_is_no_key_or_another_ones_secret_opens_nothing(ring: KeyRing) -> None:
    first = ring.create(READER, NOW)
    second = ring.create(Grant(name="other", role="admin"), NOW)
    swapped = "_".join([*second.split("_")[:2], first.split("_", 2)[2]])

    for wrong in ("", "bm__", "bm_", first[:-1], first + "x", swapped, f"{first} ", "é", "bm_\ud800_x"):
        with pytest.raises(NotAuthenticated, match="opens nothing"):
            ring.grant_of(wrong, NOW)


def test_a_key_ends_at_its_time(ring: KeyRing) -> None:
    token = ring.create(READER, NOW, NOW + HOUR)

    assert ring.grant_of(token, NOW + HOUR - 1) == READER
    with pytest.raises(NotAuthenticated):
        ring.grant_of(token, NOW + HOUR)


def test_rotation_leaves_the_former_key_for_the_grace_and_no_longer(ring: KeyRing) -> None:
    former = ring.create(READER, NOW)

    latter = ring.rotate("reports", NOW, HOUR)

    assert ring.grant_of(former, NOW + HOUR - 1) == ring.grant_of(latter, NOW + HOUR) == READER
    with pytest.raises(NotAuthenticated):
        ring.grant_of(former, NOW + HOUR)


def test_a_key_that_ends_is_rotated_to_one_that_ends_as_well(ring: KeyRing) -> None:
    ring.create(READER, NOW, NOW + HOUR)

    latter = ring.rotate("reports", NOW, 0)

    assert ring.grant_of(latter, NOW + HOUR - 1) == READER
    with pytest.raises(NotAuthenticated):
        ring.grant_of(latter, NOW + HOUR)


def test_rotation_never_makes_an_old_key_last_longer(ring: KeyRing) -> None:
    first = ring.create(READER, NOW)
    ring.rotate("reports", NOW, HOUR)

    ring.rotate("reports", NOW + HOUR // 2, HOUR)

    with pytest.raises(NotAuthenticated):
        ring.grant_of(first, NOW + HOUR)


def test_a_revoked_key_opens_nothing_for_who_has_the_file_open(ring: KeyRing) -> None:
    token = ring.create(READER, NOW)
    reading = KeyRing(ring.path)
    assert reading.grant_of(token, NOW) == READER

    assert ring.revoke("reports") == 1

    with pytest.raises(NotAuthenticated):
        reading.grant_of(token, NOW)


def test_a_name_has_one_key_until_it_ended(ring: KeyRing) -> None:
    ring.create(READER, NOW, NOW + HOUR)

    with pytest.raises(InvalidInput, match="'reports' has a key; rotate it"):
        ring.create(READER, NOW)
    assert ring.create(READER, NOW + HOUR)


@pytest.mark.parametrize("act", [lambda ring: ring.revoke("nobody"), lambda ring: ring.rotate("nobody", NOW, HOUR)])
def test_a_name_without_a_key_is_told(ring: KeyRing, act) -> None:
    with pytest.raises(NotFound, match="no key is named 'nobody'"):
        act(ring)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is not a file of keys"),
        ('{"version": 1, "keys": [{"id": 1}]}', "is not a file of keys"),
        ('{"version": 2, "keys": []}', "a newer release"),
    ],
)
def test_a_file_that_cannot_be_read_opens_nothing_and_says_why(ring: KeyRing, content: str, told: str) -> None:
    ring.path.write_text(content, encoding="utf-8")

    with pytest.raises(InvalidSetting, match=told):
        ring.keys()
