"""The command that asks a process on this machine whether it is alive, or ready: what a container's check runs."""

import urllib.error
import urllib.request

import click
import msgspec

from beliefmesh.cli.session import session_of, with_flags
from beliefmesh.settings import Settings
from schemas.errors import StoreUnavailable

_PATIENCE_SECONDS = 5.0
_LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (what every interface is reached by from here)


@click.command("health")
@with_flags
@click.option("--port", type=int, help="Port to ask at; that of the worker or of HTTP in the settings by default.")
@click.option("--ready", is_flag=True, help="Ask whether it is ready, not only alive.")
@click.pass_context
def health_command(context: click.Context, port: int | None, ready: bool) -> None:
    """Ask a `serve`, `up` or `worker` on this machine for its health; exits with 1 unless it is well."""
    session = session_of(context)
    url = f"{_place(session.loaded().settings, port)}/health/{'ready' if ready else 'live'}"
    told = _asked(url)
    session.emit(told, lambda console: console.print(told["status"]))


def _place(settings: Settings, port: int | None) -> str:
    """Where this machine's process answers: a worker's own port goes before that of the API."""
    host = _LOOPBACK_OF.get(settings.http.host, settings.http.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port or settings.streams.worker_port or settings.http.port}"


def _asked(url: str) -> dict[str, object]:
    """What the process says of itself. Raises StoreUnavailable with its reasons, or where nobody answers."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=_PATIENCE_SECONDS) as answer:
            told: dict[str, object] = msgspec.json.decode(answer.read(), type=dict[str, object])
            return told
    except urllib.error.HTTPError as error:
        with error:
            raise StoreUnavailable(f"{url}: {error.read().decode(errors='replace')}") from error
    except (OSError, msgspec.DecodeError) as error:
        raise StoreUnavailable(f"{url}: {getattr(error, 'reason', error)}; is a mesh running there?") from error
