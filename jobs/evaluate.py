"""The job evaluate: known data is sent through a mesh of its own, and the figures are kept with the run."""

from jobs.job import Page, Work


def evaluate(work: Work, after: str) -> Page:  # noqa: ARG001 (one page does it all)
    """Run the evaluation that was asked for; the bank itself is neither asked nor changed."""
    name, data = work.arguments["evaluation"], work.arguments["data"]
    if not work.applies:
        return Page(after=None, reasons={f"the evaluation {name} would run": 1})
    return Page(after=None, counts={"evaluations": 1}, figures=dict(work.evaluate(name, data)))
