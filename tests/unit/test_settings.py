"""Settings: later sources win, every slip is named, secrets are masked, and every key is documented."""

from pathlib import Path

import pytest

from beliefmesh.settings import (
    Settings,
    environment_name,
    lean_heap,
    load_settings,
    masked,
    quiet_threads,
    setting_names,
    shown_settings,
)
from schemas.errors import InvalidSetting

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


def write(folder: Path, text: str, name: str = "beliefmesh.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(environ: dict[str, str], folder: Path, **flags: object) -> str:
    with pytest.raises(InvalidSetting) as caught:
        load_settings(environ, folder, flags)
    return str(caught.value)


def test_with_no_source_every_setting_is_its_default(tmp_path: Path) -> None:
    loaded = load_settings({}, tmp_path)

    assert loaded.settings == Settings()
    assert set(loaded.sources.values()) == {"default"}
    assert list(loaded.sources) == setting_names()


def test_a_file_wins_over_defaults_the_environment_over_the_file_and_a_flag_over_all(tmp_path: Path) -> None:
    path = write(tmp_path, '[mesh]\nfolder = "a"\nbank = "a"\nshards = 3\n')
    environ = {"BELIEFMESH_MESH__FOLDER": "b", "BELIEFMESH_MESH__BANK": "b"}

    loaded = load_settings(environ, tmp_path, {"mesh.folder": "c", "http.port": None})

    assert (loaded.settings.mesh.folder, loaded.settings.mesh.bank, loaded.settings.mesh.shards) == ("c", "b", 3)
    assert loaded.sources["mesh.folder"] == "command line"
    assert loaded.sources["mesh.bank"] == "environment BELIEFMESH_MESH__BANK"
    assert loaded.sources["mesh.shards"] == f"file {path}"
    assert loaded.sources["http.port"] == "default"


def test_the_file_is_the_flags_else_the_environments_else_the_one_in_the_working_directory(tmp_path: Path) -> None:
    write(tmp_path, "[recall]\nlimit = 1\n")
    named = write(tmp_path, "[recall]\nlimit = 2\n", "named.toml")
    flagged = write(tmp_path, "[recall]\nlimit = 3\n", "flagged.toml")
    environ = {"BELIEFMESH_CONFIG": str(named)}

    assert load_settings({}, tmp_path).settings.recall.limit == 1
    assert load_settings(environ, tmp_path).settings.recall.limit == 2
    assert load_settings(environ, tmp_path, file=flagged).settings.recall.limit == 3


def test_the_environment_has_no_types_and_is_read_by_the_settings_own() -> None:
    environ = {
        "BELIEFMESH_HTTP__PORT": "0",
        "BELIEFMESH_HTTP__EXPOSE_WITHOUT_AUTHENTICATION": "true",
        "BELIEFMESH_RECALL__DEADLINE": "0.5",
        "BELIEFMESH_STREAMS__PREFIX": "7",
    }

    settings = load_settings(environ, Path("/nonexistent")).settings

    assert settings.http.port == 0
    assert settings.http.expose_without_authentication is True
    assert settings.recall.deadline == 0.5
    assert settings.streams.prefix == "7"


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        (
            {"BELIEFMESH_MESH__FOLER": "x"},
            "BELIEFMESH_MESH__FOLER: is not a setting; did you mean BELIEFMESH_MESH__FOLDER?",
        ),
        (
            {"BELIEFMESH_NONSENSE": "x"},
            "BELIEFMESH_NONSENSE: is not a setting; `beliefmesh config show` lists them all",
        ),
        (
            {"BELIEFMESH_MESH__SHARDS": "two"},
            "mesh.shards: 'two' is not a whole number from 1 to 1024 (from environment BELIEFMESH_MESH__SHARDS)",
        ),
        (
            {"BELIEFMESH_MESH__SHARDS": "0"},
            "mesh.shards: '0' is not a whole number from 1 to 1024 (from environment BELIEFMESH_MESH__SHARDS)",
        ),
        (
            {"BELIEFMESH_RECALL__DEADLINE": "nan"},
            "recall.deadline: 'nan' is not a number above 0 to 600 (from environment BELIEFMESH_RECALL__DEADLINE)",
        ),
        (
            {"BELIEFMESH_RECALL__FUSION": "sum"},
            "recall.fusion: 'sum' is not one of zscore, rrf (from environment BELIEFMESH_RECALL__FUSION)",
        ),
        (
            {"BELIEFMESH_MESH__BANK": "a/b"},
            "mesh.bank: 'a/b' is not a bank name; use 1 to 64 letters, digits, '.', '-' or '_', a letter or digit first"
            " (from environment BELIEFMESH_MESH__BANK)",
        ),
    ],
)
def test_a_wrong_variable_is_refused_with_what_is_allowed(
    environ: dict[str, str], message: str, tmp_path: Path
) -> None:
    assert refusal(environ, tmp_path) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[mash]\n", "mash: is not a section; did you mean mesh?"),
        ("mesh = 1\n", "mesh: must be a table, as in [mesh]"),
        ("[mesh]\nfoldr = 'x'\n", "mesh.foldr: is not a setting; did you mean mesh.folder?"),
        ("[mesh]\nshards = '2'\n", "mesh.shards: '2' is not a whole number from 1 to 1024"),
        ("[mesh]\nshards = true\n", "mesh.shards: True is not a whole number from 1 to 1024"),
        ("[http]\nexpose_without_authentication = 'yes'\n", "http.expose_without_authentication: 'yes' is not true or"),
        ("[mesh]\nfolder = 7\n", "mesh.folder: 7 is not text"),
        ("[mesh\n", f"{Path('beliefmesh.toml')}: is not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_the_key_and_what_is_allowed(text: str, message: str, tmp_path: Path) -> None:
    write(tmp_path, text)

    assert message in refusal({}, tmp_path)
    assert "beliefmesh.toml" in refusal({}, tmp_path)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in refusal({"BELIEFMESH_CONFIG": "none.toml"}, tmp_path)


def test_a_wrong_flag_is_refused_too(tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match=r"^http\.port: 70000 is not a whole number from 0 to 65535"):
        load_settings({}, tmp_path, {"http.port": 70_000})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("nebula://root:s3cret@graph:9669/mesh", "nebula://root:***@graph:9669/mesh"),
        ("milvus://:s3@cr:et@index:19530", "milvus://:***@index:19530"),
        ("milvus://s3@cret@index:19530", "milvus://***@index:19530"),
        ("https://embed/v1?model=e5&api_key=s3cret#x", "https://embed/v1?model=e5&api_key=***#x"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
        ("", ""),
    ],
)
def test_secrets_in_urls_are_masked(value: str, shown: str) -> None:
    assert masked("stores.graph", value) == shown


def test_shown_settings_hold_no_password(tmp_path: Path) -> None:
    shown = shown_settings(load_settings({"BELIEFMESH_STORES__GRAPH": "nebula://u:s3cret@h/x"}, tmp_path))

    assert shown["stores"]["graph"] == {
        "value": "nebula://u:***@h/x",
        "source": "environment BELIEFMESH_STORES__GRAPH",
    }


def test_thread_pools_are_kept_quiet_unless_the_user_says_otherwise() -> None:
    untouched: dict[str, str] = {}
    chosen = {"OMP_NUM_THREADS": "4"}

    quiet_threads(untouched)
    quiet_threads(chosen)

    assert untouched == {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
    assert chosen == {"OMP_NUM_THREADS": "4", "OMP_WAIT_POLICY": "passive"}


def test_the_c_library_keeps_little_that_is_free_unless_the_user_says_otherwise() -> None:
    untouched: dict[str, str] = {}
    chosen = {"MALLOC_ARENA_MAX": "8"}

    lean_heap(untouched)
    lean_heap(chosen)

    large = {"MALLOC_MMAP_THRESHOLD_": "1048576", "MALLOC_TRIM_THRESHOLD_": "4194304"}
    assert untouched == {"MALLOC_ARENA_MAX": "2", **large}
    assert chosen == {"MALLOC_ARENA_MAX": "8", **large}


def test_every_setting_stands_in_the_documentation_with_its_default() -> None:
    text = DOCS.read_text(encoding="utf-8")
    shown = shown_settings(load_settings({}, Path("/nonexistent")))
    defaults = {f"{section}.{name}": told["value"] for section, named in shown.items() for name, told in named.items()}

    for name, default in defaults.items():
        told = "empty" if default == "" else f"`{str(default).lower() if isinstance(default, bool) else default}`"
        assert f"| `{name}` | {told} |" in text, f"{name} with its default {default!r} is not in docs/configuration.md"


def test_nothing_but_settings_is_documented_as_one() -> None:
    rows = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    documented = {line.split("`")[1] for line in rows if "." in line.split("`")[1]}

    assert documented == set(setting_names())


def test_a_setting_is_its_section_and_name_in_upper_case_in_the_environment() -> None:
    assert environment_name("http.max_body_mb") == "BELIEFMESH_HTTP__MAX_BODY_MB"


@pytest.mark.parametrize("prefix", ["my mesh-", "../", "a/b", "__mine-", "x" * 151])
def test_a_prefix_that_no_topic_can_have_is_refused(prefix: str) -> None:
    with pytest.raises(InvalidSetting, match=r"streams\.prefix"):
        load_settings({"BELIEFMESH_STREAMS__PREFIX": prefix}, Path("/nonexistent"))
