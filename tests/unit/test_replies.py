"""Replies kept under keys: the same again, refused, in flight, erased, and after the process that ran is gone."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from schemas.errors import InFlight, KeyReused, ReplyErased
from schemas.instant import DAY, HOUR
from stores.owner import new_owner
from stores.sqlite.replies import HeldKey, KeptReply, Replies

NOW = 1_718_020_800_000_000
DONE = KeptReply(200, "application/json", b'{"ids":["o1"]}')


@pytest.fixture
def claim() -> HeldKey:
    """A key of a request that this process runs."""
    return HeldKey("k1", new_owner())


@pytest.fixture
def replies(tmp_path: Path) -> Iterator[Replies]:
    """An empty file of replies."""
    opened = Replies(tmp_path / "replies.db")
    yield opened
    opened.close()


def test_the_reply_of_a_request_is_given_again_also_after_a_restart(
    replies: Replies, claim: HeldKey, tmp_path: Path
) -> None:
    assert replies.begin(claim, "acme", "asked", NOW, DAY) is None
    replies.keep(claim, DONE)
    replies.close()

    again = Replies(tmp_path / "replies.db")

    assert again.begin(HeldKey("k1", new_owner()), "acme", "asked", NOW + HOUR, DAY) == DONE
    again.close()


def test_a_key_that_comes_with_another_request_is_refused(replies: Replies, claim: HeldKey) -> None:
    replies.begin(claim, "acme", "asked", NOW, DAY)

    with pytest.raises(KeyReused, match="another request"):
        replies.begin(claim, "acme", "asked otherwise", NOW, DAY)


def test_a_request_that_still_runs_is_told_so_and_one_of_a_dead_process_is_taken_over(
    replies: Replies, claim: HeldKey
) -> None:
    replies.begin(claim, "acme", "asked", NOW, DAY)
    host = claim.owner.split("/")[0]
    dead = HeldKey("k2", f"{host}/999999999/x")
    replies.begin(dead, "acme", "asked", NOW, DAY)

    with pytest.raises(InFlight):
        replies.begin(HeldKey("k1", new_owner()), "acme", "asked", NOW, DAY)
    assert replies.begin(HeldKey("k2", new_owner()), "acme", "asked", NOW, DAY) is None

    replies.keep(dead, DONE)
    with pytest.raises(InFlight):
        replies.begin(HeldKey("k2", new_owner()), "acme", "asked", NOW, DAY)


def test_a_claim_that_was_given_up_may_be_made_for_another_request(replies: Replies, claim: HeldKey) -> None:
    replies.begin(claim, "acme", "asked", NOW, DAY)

    replies.release(claim)

    assert replies.begin(claim, "acme", "asked otherwise", NOW, DAY) is None


def test_a_reply_that_is_too_old_is_gone(replies: Replies, claim: HeldKey) -> None:
    replies.begin(claim, "acme", "asked", NOW, DAY)
    replies.keep(claim, DONE)

    assert replies.begin(claim, "acme", "asked", NOW + DAY + 1, DAY) is None


def test_an_erased_reply_leaves_no_word_and_no_second_effect(replies: Replies, claim: HeldKey, tmp_path: Path) -> None:
    replies.begin(claim, "acme", "asked", NOW, DAY)
    replies.keep(claim, KeptReply(200, "application/json", b"a secret word"))

    replies.erase("acme", NOW + 1)

    assert all(b"a secret word" not in file.read_bytes() for file in tmp_path.iterdir())
    with pytest.raises(ReplyErased):
        replies.begin(claim, "acme", "asked", NOW, DAY)


def test_a_reply_that_was_on_its_way_when_its_bank_forgot_is_kept_without_its_words(replies: Replies) -> None:
    late, forgetting = HeldKey("k1", new_owner()), HeldKey("k2", new_owner(), wordless=True)
    for claim in (late, forgetting):
        replies.begin(claim, "acme", "asked", NOW, DAY)

    replies.erase("acme", NOW + 1)
    for claim in (late, forgetting):
        replies.keep(claim, DONE)

    with pytest.raises(ReplyErased):
        replies.begin(late, "acme", "asked", NOW, DAY)
    assert replies.begin(forgetting, "acme", "asked", NOW, DAY) == DONE


def test_of_many_threads_each_gets_its_own_reply_and_one_key_is_claimed_once(replies: Replies, tmp_path: Path) -> None:
    owner = new_owner()

    def request(number: int) -> str:
        claim = HeldKey(f"k{number % 40}", owner)
        try:
            kept = replies.begin(claim, "acme", f"asked {number % 40}", NOW, DAY)
        except InFlight:
            return "in flight"
        if kept is not None:
            assert kept.body == str(number % 40).encode()
            return "kept"
        replies.keep(claim, KeptReply(200, "text/plain", str(number % 40).encode()))
        return "ran"

    with ThreadPoolExecutor(16) as pool:
        outcomes = Counter(pool.map(request, range(400)))

    assert outcomes["ran"] == 40
    replies.close()
    again = Replies(tmp_path / "replies.db")
    assert again.begin(HeldKey("k7", new_owner()), "acme", "asked 7", NOW, DAY) == KeptReply(200, "text/plain", b"7")
    again.close()


def test_nothing_is_written_before_the_first_key_comes(replies: Replies, tmp_path: Path) -> None:
    replies.erase("acme", NOW)

    assert not (tmp_path / "replies.db").exists()
