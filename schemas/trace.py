"""The W3C trace context, as it travels in the headers of requests and messages."""

import re
from collections.abc import Mapping

PARENT, STATE = "traceparent", "tracestate"

_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.{0,100})?")
_LONGEST_STATE = 512


def trace_context(headers: Mapping[str, str]) -> dict[str, str]:
    """What of these headers is a trace context; nothing where its parent is none."""
    parent, state = headers.get(PARENT, ""), headers.get(STATE, "")
    if not _PARENT.fullmatch(parent):
        return {}
    return {PARENT: parent, STATE: state} if 0 < len(state) <= _LONGEST_STATE else {PARENT: parent}


def trace_id(headers: Mapping[str, str]) -> str:
    """The id of the trace that these headers name, else nothing."""
    found = _PARENT.fullmatch(headers.get(PARENT, ""))
    return found[1] if found else ""
