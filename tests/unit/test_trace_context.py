"""What is taken for a trace context, and what is carried on of it."""

from schemas.trace import trace_context

PARENT = f"00-{'a' * 32}-{'b' * 16}-01"


def test_a_parent_of_a_later_version_may_say_more_and_not_without_end() -> None:
    later = f"01{PARENT[2:]}-more"

    assert trace_context({"traceparent": PARENT}) == {"traceparent": PARENT}
    assert trace_context({"traceparent": later}) == {"traceparent": later}
    assert trace_context({"traceparent": f"{later}{'x' * 200}"}) == {}
