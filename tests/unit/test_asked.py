"""What is remembered of questions that were asked lately."""

from collections.abc import Sequence

import numpy as np

from stores.asked import AskedBefore
from stores.ports import Vectors


class Counting:
    """An embedder that notes what it is asked."""

    model_id = "counting"
    dimensions = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def passages(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 2), np.float32)

    def query(self, text: str) -> Vectors:
        self.asked.append(text)
        return np.array([len(text), 1.0], np.float32)


def test_a_question_that_comes_again_is_not_embedded_again() -> None:
    embedder = Counting()
    before = AskedBefore(embedder)

    vectors = [before.query(text) for text in ("Who?", "Where is it?", "Who?")]

    assert embedder.asked == ["Who?", "Where is it?"]
    assert [vector.tolist() for vector in vectors] == [[4.0, 1.0], [12.0, 1.0], [4.0, 1.0]]
    assert before.counts == {"cache.questions.miss": 2, "cache.questions.hit": 1}


def test_only_so_many_are_kept_and_the_one_asked_longest_ago_goes() -> None:
    embedder = Counting()
    before = AskedBefore(embedder, most=2)

    for text in ("a", "b", "a", "c", "a", "b"):
        before.query(text)

    assert embedder.asked == ["a", "b", "c", "b"]


def test_passages_are_embedded_each_time_and_a_kept_vector_cannot_be_changed() -> None:
    before = AskedBefore(Counting())

    assert before.passages(["a", "b"]).shape == (2, 2)
    assert before.query("a\ud800").flags.writeable is False
    assert (before.model_id, before.dimensions) == ("counting", 2)
