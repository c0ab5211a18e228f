"""The job learn-value: the value of a memory is learned anew from what the recall log tells of use."""

from jobs.job import Page, Work
from jobs.learn_value import learn_value


def learn(work: Work, after: str) -> Page:  # noqa: ARG001 (one page does it all)
    """Learn from all recalls and verdicts; the model is kept, and in force where it ranks better than the heuristic."""
    work.count_usage()
    learned = learn_value(work.graph, work.bank, work.clock(), work.usage, work.values, apply=work.applies)
    model = learned.model
    figures = {} if model is None else {"auc": model.auc, "heuristic auc": model.heuristic_auc}
    return Page(
        after=None,
        counts={"outcomes": learned.outcomes, "credited": learned.credited},
        figures=figures | ({} if model is None else {"version": float(model.version)}),
        reasons={f"{learned.by} is in force: {learned.reason}": 1},
    )
