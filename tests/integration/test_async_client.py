"""The asyncio client over a network: the same verbs, several at a time, and the same errors."""

import asyncio
import time

import pytest
from cutting_proxy import CuttingProxy

from beliefmesh.aio import AsyncMemory
from beliefmesh.memory import Memory
from schemas.errors import InvalidInput, NotFound


def test_what_is_told_and_asked_over_the_network_is_what_the_memory_holds(url: str, memory: Memory) -> None:
    async def told() -> tuple[object, object]:
        async with AsyncMemory.connect(url) as mesh:
            await mesh.retain("The gate is open.", agent="desk")
            answer = await mesh.recall("Is the gate open?", principal="ann")
            return answer.found[0].belief, await mesh.state_hash(now=0)

    belief, hashed = asyncio.run(told())

    assert belief == memory.recall("Is the gate open?").found[0].belief
    assert hashed == memory.state_hash(now=0)


def test_the_event_loop_goes_on_while_a_request_waits(url: str) -> None:
    proxy = CuttingProxy(url, ["before"] * 3)
    beats: list[float] = []

    async def beat(until: asyncio.Task[object]) -> None:
        while not until.done():
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def both() -> object:
        async with AsyncMemory.connect(proxy.url) as mesh:
            asked: asyncio.Task[object] = asyncio.create_task(mesh.banks())
            await beat(asked)
            return asked.result()

    assert asyncio.run(both()) == []
    assert len(beats) > 1
    assert len(proxy.seen) == 4
    proxy.stop()


def test_fifty_calls_at_once_have_each_its_effect(url: str, memory: Memory) -> None:
    async def told() -> None:
        async with AsyncMemory.connect(url, at_once=4) as mesh:
            await asyncio.gather(*(mesh.retain(f"Crate {each} holds lamps.", wait=False) for each in range(50)))
            await mesh.wait((await mesh.retain("The yard is shut.")).token)

    asyncio.run(told())

    assert memory.stats("default")["banks"]["default"]["evidence"] == 51


def test_errors_are_raised_where_they_are_awaited(url: str) -> None:
    async def refused() -> None:
        async with AsyncMemory.connect(url) as mesh:
            with pytest.raises(NotFound):
                await mesh.explain("b0")
            with pytest.raises(InvalidInput, match="weight"):
                await mesh.retain({"text": "x", "weight": -1})

    asyncio.run(refused())


@pytest.mark.parametrize("at_once", [0, 1_001, "four"])
def test_how_many_run_at_once_must_be_a_number_that_makes_sense(at_once: object) -> None:
    with pytest.raises(InvalidInput, match="at_once"):
        AsyncMemory.connect("http://127.0.0.1:9", at_once=at_once)  # type: ignore[arg-type]
