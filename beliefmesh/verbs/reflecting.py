"""Verbs in the bank's own voice: an answer that reasons from what is recalled, and summaries of entities."""

from collections.abc import Mapping

import msgspec

from beliefmesh.ask import entity_of, principal_of
from beliefmesh.verbs.judging import Judging
from beliefs.confidence import logit
from recall.reflect import REFLECTED, compose, extractive, judgement, material
from recall.render import line, sentences_in
from recall.seen import Seen, Sight
from recall.spoken import SCHEMA, Spoken, asked_to_reflect, asked_to_summarise, heard
from recall.summary import SUMMARISED, SUMMARY, Draft, draft, is_summary
from schemas.answer import Answer, Found
from schemas.belief import LIVE
from schemas.claim import Network
from schemas.entity import Entity, entity_id
from schemas.errors import InvalidInput, ModelFailed, NotFound
from schemas.identity import digest
from schemas.limits import check_number, shown
from schemas.profile import NEUTRAL, Profile
from schemas.query import Principal
from schemas.recall_record import RecallRecord, UsedBelief
from schemas.reflection import Judgement, Reflection, Summary
from schemas.slot import slot_id

_NETWORKS: tuple[Network, ...] = ("world", "experience", "opinion")
_SUREST = 0.999
_PAGE = 500
_MAX_TOKENS = 1_000_000


class Reflecting(Judging):
    """Reflection and summaries; what they conclude is told to the log like anything else."""

    def reflect(
        self,
        /,
        text: str,
        *,
        max_tokens: int | None = None,
        opinions: bool = True,
        bank: str | None = None,
        wait_for: str = "",
        principal: Principal | str | None = None,
        **fields: object,
    ) -> Reflection:
        """Answer in the bank's voice, from recalled beliefs that each sentence cites; `fields` as for `recall`.

        `max_tokens` bounds the text that comes back. Where a judgement is asked for, an opinion is formed from what was
        cited, or moves, unless `opinions` is False: for the bank where nobody in particular asks, else for the asker
        alone.
        """
        if max_tokens is not None:
            _check_tokens(max_tokens)
        name = self._bank(bank)
        who = principal_of(principal)
        asked = {"networks": _NETWORKS, **fields}
        answer = self.recall(text, bank=name, wait_for=wait_for, principal=who, **asked)
        profile = self.home.graph.policy(name).profile or NEUTRAL
        reflection, stated = self._reflection(answer, profile, max_tokens)
        self._note(reflection, answer, who)
        past = any(fields.get(time) is not None for time in ("as_of", "known_at"))
        formed = judgement(answer, reflection, stated, who.id) if opinions and not past and _keeps_apart(who) else None
        if formed is None:
            return reflection
        return msgspec.structs.replace(reflection, formed=self._form(name, formed, who))

    def summary(
        self,
        entity: str | Mapping[str, object] | Entity,
        *,
        bank: str | None = None,
        principal: Principal | str | None = None,
    ) -> Summary:
        """What is held of an entity, in sentences that cite beliefs. Raises NotFound where nothing is.

        That of the whole bank is stored, and written again when what it cites has moved. For a principal it is made
        from all that they may see, and not stored.
        """
        name, subject, who = self._bank(bank), entity_of(entity), principal_of(principal)
        self._keep_up()
        now = self.home.clock()
        sight = Sight(bank=name, principal=who, moment=now)
        seen = Seen(self.home.graph, self.home.graph.policy(name), sight)
        drafted = draft(seen, subject)
        if not drafted.sentences:
            whom = f"{subject.name!r:.80} of type {subject.type}"
            raise NotFound(f"nothing is held of {whom} that you may see; check name and type")
        plain = Summary(bank=name, entity=subject, moment=now, text=drafted.text, sentences=drafted.sentences)
        if who != Principal():
            return plain
        if drafted.stored is not None and drafted.stored.value == drafted.text:
            text, given = drafted.stored.statement, (id for one in drafted.sentences for id in one.beliefs)
            return msgspec.structs.replace(
                plain, text=text, sentences=sentences_in(text, given), belief=drafted.stored.id
            )
        return self._summarise(plain, drafted)

    def refresh_summaries(self, bank: str | None = None) -> int:
        """Write every stored summary again that what lies beneath has moved away from; returns how many."""
        name = self._bank(bank)
        refreshed, after = 0, ""
        while ids := self.home.graph.scan(name, after, _PAGE):
            for slot in self.home.graph.slots(name, ids).values():
                if is_summary(slot):
                    refreshed += self._refreshed(name, slot.entity)
            after = ids[-1]
        return refreshed

    def _refreshed(self, bank: str, entity: Entity) -> bool:
        try:
            return self.summary(entity, bank=bank).refreshed
        except NotFound:
            return False

    def _reflection(self, answer: Answer, profile: Profile, max_tokens: int | None) -> tuple[Reflection, str]:
        """The reflection, and the opinion that a model stated with it."""
        found = material(answer)
        plain = compose(answer, extractive(found, profile), profile, max_tokens)
        if self.home.language is None or not found:
            return plain, ""
        try:
            spoken = self._ask(asked_to_reflect(answer.question, _lines(found, answer), profile), _given(found))
        except ModelFailed as failed:
            return msgspec.structs.replace(plain, reason=f"{failed.reason}: {failed.message}"), ""
        voice = self.home.language.model_id
        told = compose(answer, spoken.sentences, profile, max_tokens, voice=voice, dropped=spoken.dropped)
        return told, spoken.opinion

    def _ask(self, asked: tuple[str, str], given: Mapping[str, tuple[str, ...]]) -> Spoken:
        if self.home.language is None:
            raise ModelFailed("unreachable", "there is no language model")
        system, user = asked
        return heard(self.home.language.complete(system, user, SCHEMA), given)

    def _note(self, reflection: Reflection, answer: Answer, who: Principal) -> None:
        """Keep which beliefs were cited, so that feedback may name the reflection."""
        found = {one.belief.id: one for one in answer.found}
        used = [_used(found[id]) for id in reflection.cited]
        self.home.recalls.keep(
            RecallRecord(
                id=reflection.id,
                bank=reflection.bank,
                question=reflection.question,
                principal=who,
                at=self.home.clock(),
                moment=reflection.moment,
                beliefs=tuple(used),
            )
        )

    def _form(self, bank: str, formed: Judgement, who: Principal) -> tuple[str, ...]:
        """Tell an opinion to the log, unless it is held already; what one asker concludes is theirs alone."""
        now = self.home.clock()
        place = slot_id(bank, formed.entity, formed.attribute, network="opinion")
        seen = Seen(self.home.graph, self.home.graph.policy(bank), Sight(bank=bank, principal=who, moment=now))
        held = seen.slots([place]).get(place)
        if held and any(one.value == formed.value and one.status in LIVE for one in held.slot.beliefs):
            return ()
        alike = {
            "attribute": formed.attribute,
            "statement": formed.statement,
            "network": "opinion",
            "kind": "derivation",
            "premises": list(formed.premises),
        }
        weight = logit(min(_SUREST, formed.confidence))
        claim = {
            "entity": _named(formed.entity),
            "value": formed.value,
            "value_type": "text",
            "weight": weight,
            **alike,
        }
        back = [{"entity": _named(former), "stance": "retracts", **alike} for former in formed.former]
        own = {"visibility": "private", "owner": who.id} if who.id else {}
        id = "o" + digest(REFLECTED, bank, who.id, place, formed.value, str(now))
        source = {"id": REFLECTED, "origin": REFLECTED}
        return self.retain({"id": id, "claims": [claim, *back], "source": source, **own}, bank=bank).ids

    def _summarise(self, plain: Summary, drafted: Draft) -> Summary:
        """Store a summary: a conclusion from all that it cites, which falls when any of it does."""
        written = self._in_words(plain, drafted)
        subject, bank = plain.entity, plain.bank
        claim = {
            "entity": _named(subject),
            "attribute": SUMMARY,
            "value": drafted.text,
            "value_type": "text",
            "statement": written.text,
            "network": "observation",
            "kind": "derivation",
            "premises": [id for sentence in drafted.sentences for id in sentence.beliefs],
        }
        id = "o" + digest(SUMMARISED, entity_id(bank, subject), drafted.text, str(plain.moment))
        source = {"id": SUMMARISED, "origin": SUMMARISED}
        self.retain({"id": id, "claims": [claim], "source": source}, bank=bank)
        seen = Seen(
            self.home.graph,
            self.home.graph.policy(bank),
            Sight(bank=bank, principal=Principal(), moment=self.home.clock()),
        )
        stored = draft(seen, subject).stored
        return msgspec.structs.replace(written, belief=stored.id if stored else "", refreshed=True)

    def _in_words(self, plain: Summary, drafted: Draft) -> Summary:
        """The summary in a model's words, where there is one that keeps to what it is given."""
        if self.home.language is None:
            return plain
        given = {sentence.beliefs[0]: sentence.beliefs for sentence in drafted.sentences}
        memories = [(sentence.beliefs[0], sentence.text) for sentence in drafted.sentences]
        try:
            spoken = self._ask(asked_to_summarise(plain.entity.name, memories), given)
        except ModelFailed as failed:
            return msgspec.structs.replace(plain, reason=f"{failed.reason}: {failed.message}")
        voiced = Draft(spoken.sentences, None)
        return msgspec.structs.replace(
            plain, text=voiced.text, sentences=voiced.sentences, voice=self.home.language.model_id
        )


def _keeps_apart(who: Principal) -> bool:
    """Whether what is concluded for an asker can be told to nobody else: they are nobody in particular, or named."""
    return bool(who.id) or not who.groups


def _check_tokens(max_tokens: object) -> None:
    if not isinstance(max_tokens, int):
        raise InvalidInput("max_tokens", f"is {shown(max_tokens)}; use a whole number")
    check_number(max_tokens, "max_tokens", 1, _MAX_TOKENS)


def _named(entity: Entity) -> dict[str, str]:
    return {"name": entity.name, "type": entity.type}


def _lines(found: tuple[Found, ...], answer: Answer) -> list[tuple[str, str]]:
    return [(one.belief.id, line(one, answer.moment)) for one in found]


def _given(found: tuple[Found, ...]) -> dict[str, tuple[str, ...]]:
    return {one.belief.id: (one.belief.id,) for one in found}


def _used(found: Found) -> UsedBelief:
    belief = found.belief
    evidence = tuple(term.evidence.id for term in found.evidence)
    return UsedBelief(belief.id, belief.version, belief.status, found.confidence, evidence)
