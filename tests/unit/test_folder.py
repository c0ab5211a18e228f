"""A folder has one owner at a time, and the owner can be asked for."""

import json
import os
from pathlib import Path

import pytest

from beliefmesh.folder import Folder
from schemas.errors import FolderInUse, InvalidSetting


def test_a_folder_is_made_with_its_parents(tmp_path: Path) -> None:
    with Folder(tmp_path / "a" / "b") as folder:
        assert folder.path == (tmp_path / "a" / "b").resolve()
        assert folder.path.is_dir()


def test_a_second_owner_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    with Folder(tmp_path), pytest.raises(FolderInUse) as refused:
        Folder(tmp_path)
    assert f"process {os.getpid()}" in str(refused.value)
    assert refused.value.address == ""


def test_where_the_owner_serves_is_told_too(tmp_path: Path) -> None:
    with Folder(tmp_path) as folder:
        folder.announce("http://127.0.0.1:7420")
        with pytest.raises(FolderInUse, match=r"serves http://127\.0\.0\.1:7420") as refused:
            Folder(tmp_path)
    assert refused.value.address == "http://127.0.0.1:7420"


def test_a_later_announcement_replaces_the_earlier_one(tmp_path: Path) -> None:
    with Folder(tmp_path) as folder:
        folder.announce("http://127.0.0.1:65000/and/a/long/path")
        folder.announce("")
        assert json.loads((tmp_path / "lock").read_text()) == {"pid": os.getpid(), "address": ""}


def test_a_folder_that_was_given_up_is_free(tmp_path: Path) -> None:
    Folder(tmp_path).close()
    with Folder(tmp_path) as folder:
        assert folder.path == tmp_path.resolve()


@pytest.mark.parametrize("left_behind", ["", "garbage", "[1]", '{"pid": 1, "address": "http://127.0.0.1:1"}'])
def test_what_a_killed_owner_left_in_the_lock_file_does_not_count(tmp_path: Path, left_behind: str) -> None:
    (tmp_path / "lock").write_text(left_behind)
    with Folder(tmp_path):
        assert json.loads((tmp_path / "lock").read_text())["pid"] == os.getpid()


def test_sharers_hold_a_folder_together(tmp_path: Path) -> None:
    with Folder(tmp_path, shared=True) as first, Folder(tmp_path, shared=True) as second:
        assert first.path == second.path


def test_an_owner_is_refused_while_others_share_and_told_how_to_join_them(tmp_path: Path) -> None:
    with Folder(tmp_path, shared=True) as folder:
        folder.announce("http://127.0.0.1:7420")
        with pytest.raises(FolderInUse, match=rf"process {os.getpid()}; set mesh\.address to theirs") as refused:
            Folder(tmp_path)
    assert refused.value.address == ""
    with Folder(tmp_path) as folder:
        assert json.loads((tmp_path / "lock").read_text()) == {"pid": os.getpid(), "address": ""}


def test_a_sharer_is_refused_while_somebody_owns_the_folder_alone(tmp_path: Path) -> None:
    with Folder(tmp_path), pytest.raises(FolderInUse, match=f"in use by process {os.getpid()}; stop it"):
        Folder(tmp_path, shared=True)


def test_a_link_to_a_folder_is_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with Folder(tmp_path / "real"), pytest.raises(FolderInUse):
        Folder(tmp_path / "link")


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSetting, match=r"mesh\.folder: cannot use .*file as a folder"):
        Folder(tmp_path / "file")
    with pytest.raises(InvalidSetting, match=r"mesh\.folder"):
        Folder(tmp_path / "file" / "below")


def test_a_url_leads_into_the_folder(tmp_path: Path) -> None:
    with Folder(tmp_path / "a b#c") as folder:
        assert folder.url("sqlite", "graph.db") == f"sqlite:///{folder.path}/graph.db"
