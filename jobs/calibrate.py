"""The job calibrate: what is known of sources is learned anew, and the bank decided again by it, page by page."""

from jobs.calibrating import Calibration, Scores, calibrated
from jobs.job import PAGE, Page, Work

_LEARNED = "learned/"
_NOTHING = "neither a known answer nor feedback says anything about what a source has stated"


def calibrate(work: Work, after: str) -> Page:
    """First learn from the known answers and from feedback, then decide a page of slots by what was learned."""
    return _decided(work, after.removeprefix(_LEARNED)) if after else _learned(work)


def _learned(work: Work) -> Page:
    file = work.arguments["gold"]
    gold = work.gold(file) if file else ()
    found = calibrated(work.graph, work.bank, gold, now=work.clock(), feedback=True, apply=work.applies)
    if found is None:
        return Page(after=None, reasons={_NOTHING: 1})
    report, policy = found
    if work.applies:
        work.graph.set_policy(work.bank, policy)
    return Page(after=_LEARNED if work.applies else None, counts=_counts(report), figures=_figures(report))


def _decided(work: Work, after: str) -> Page:
    slots = work.graph.scan(work.bank, after, PAGE)
    changes = work.mesh.review([(work.bank, slot) for slot in slots], work.clock())
    work.announce(changes)
    return Page(
        after=f"{_LEARNED}{slots[-1]}" if len(slots) == PAGE else None,
        counts={"slots": len(slots), "changed": sum(bool(change.beliefs) for change in changes)},
    )


def _counts(report: Calibration) -> dict[str, int]:
    return {
        "outcomes": report.outcomes,
        "from gold": report.from_gold,
        "from feedback": report.from_feedback,
        "unanswered": report.unanswered,
        "sources": len(report.sources),
    }


def _figures(report: Calibration) -> dict[str, float]:
    told = {"trust version": float(report.version)}
    for when, scores in (("before", report.before), ("after", report.after)):
        told |= {f"{name} {when}": getattr(scores, name) for name in Scores.__struct_fields__}
    return told
