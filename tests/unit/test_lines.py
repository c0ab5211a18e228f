"""A body as lines: however it is cut into chunks, the same lines, and none that is over the limit."""

from hypothesis import given
from hypothesis import strategies as st

from beliefmesh.http.lines import Lines


@given(body=st.text("ab\n", max_size=60), cuts=st.lists(st.integers(1, 7), max_size=60), limit=st.integers(1, 9))
def test_lines_are_the_same_however_they_arrive(body: str, cuts: list[int], limit: int) -> None:
    lines, found, rest = Lines(limit), list[bytes | None](), body.encode()
    for cut in [*cuts, len(rest)]:
        found += lines.feed(rest[:cut])
        rest = rest[cut:]
    found += lines.feed(rest) + lines.last()

    whole = body.encode().split(b"\n")
    expected = [line if len(line) <= limit else None for line in (whole if whole[-1] else whole[:-1])]
    assert found == expected
