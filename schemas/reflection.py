"""A reflection and a summary: sentences, each with the beliefs that it rests on."""

import msgspec

from schemas.entity import Entity
from schemas.instant import Instant

EXTRACTIVE = "extractive"
"""The voice of what was put together without a language model."""


class Sentence(msgspec.Struct, frozen=True, omit_defaults=True):
    """A sentence and the ids of the beliefs that it cites; one that states nothing, as a greeting, cites none."""

    text: str
    beliefs: tuple[str, ...] = ()


class Reflection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer in the profile's voice.

    `text` is its sentences joined, `tokens` what that text costs. `confidence` is that of the leading belief, None
    where nothing answers; `uncertainty` puts it in words. `answer` is the id of the recall beneath. `voice` is
    `extractive`, or the model's name; `reason` says why a model that is there did not speak, `dropped` how many of its
    sentences cited nothing that was recalled. `formed` are the ids of observations by which an opinion was formed.
    """

    id: str
    bank: str
    question: str
    moment: Instant
    text: str
    sentences: tuple[Sentence, ...]
    answer: str
    uncertainty: str
    confidence: float | None = None
    voice: str = EXTRACTIVE
    reason: str = ""
    dropped: int = 0
    left_out: dict[str, int] = {}
    degraded: tuple[str, ...] = ()
    formed: tuple[str, ...] = ()
    tokens: int = 0

    @property
    def cited(self) -> tuple[str, ...]:
        """The ids of all beliefs cited, in order, each once."""
        return tuple(dict.fromkeys(id for sentence in self.sentences for id in sentence.beliefs))


class Summary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is held of an entity, in sentences that cite beliefs.

    `belief` is the id of the stored summary, empty where it was made for one reader only; `refreshed` says that it was
    written just now, because what lies beneath had moved.
    """

    bank: str
    entity: Entity
    moment: Instant
    text: str
    sentences: tuple[Sentence, ...]
    belief: str = ""
    refreshed: bool = False
    voice: str = EXTRACTIVE
    reason: str = ""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """An opinion that a reflection forms: of whom, on what, which, how sure, and from which beliefs.

    `former` are those of whom the same question was judged before; those opinions are taken back.
    """

    entity: Entity
    attribute: str
    value: str
    statement: str
    confidence: float
    premises: tuple[str, ...]
    former: tuple[Entity, ...] = ()
