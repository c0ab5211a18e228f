"""Room for requests: places, turns, and who is sent away."""

import asyncio

from beliefmesh.http.meters import Meters
from beliefmesh.http.room import Room


def test_who_finds_no_place_waits_in_turn_and_the_one_too_many_is_sent_away() -> None:
    async def given() -> tuple[list[str], Meters]:
        meters = Meters()
        room = Room(meters, size=1, most_waiting=2, patience_seconds=60.0)
        entered: list[str] = []

        async def come(name: str) -> None:
            entered.append(f"{name} {'in' if await room.enter() else 'away'}")

        guests = [asyncio.create_task(come(name)) for name in ("first", "second", "third", "fourth")]
        await asyncio.sleep(0)
        assert (meters.in_flight, meters.waiting) == (1, 2)
        for _ in range(2):
            room.leave()
            assert meters.in_flight == 1
        await asyncio.gather(*guests)
        room.leave()
        return entered, meters

    entered, meters = asyncio.run(given())

    assert entered == ["first in", "fourth away", "second in", "third in"]
    assert (meters.in_flight, meters.waiting) == (0, 0)


def test_whose_patience_ends_or_who_goes_away_leaves_the_line_and_takes_no_place() -> None:
    async def given() -> Meters:
        meters = Meters()
        room = Room(meters, size=1, most_waiting=5, patience_seconds=0.01)
        assert await room.enter()
        gone = asyncio.create_task(room.enter())
        await asyncio.sleep(0)
        gone.cancel()
        assert not await room.enter()
        room.leave()
        assert await room.enter()
        return meters

    meters = asyncio.run(given())

    assert (meters.in_flight, meters.waiting) == (1, 0)


def test_who_is_given_a_place_while_going_away_gives_it_on() -> None:
    async def given() -> Meters:
        meters = Meters()
        room = Room(meters, size=1, most_waiting=5, patience_seconds=60.0)
        assert await room.enter()
        gone = asyncio.create_task(room.enter())
        await asyncio.sleep(0)
        room.leave()
        gone.cancel()
        await asyncio.wait([gone])
        return meters

    meters = asyncio.run(given())

    assert (meters.in_flight, meters.waiting) == (0, 0)
