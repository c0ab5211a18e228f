"""Which jobs there are."""

from collections.abc import Mapping
from typing import get_args

from jobs.archive import archive, restore
from jobs.budget import keep_budget
from jobs.calibrate import calibrate
from jobs.compaction import compact
from jobs.decay import decay
from jobs.evaluate import evaluate
from jobs.job import Argument, Job
from jobs.learn import learn
from jobs.propose import propose_merges
from jobs.reindex import reindex
from jobs.summaries import summaries
from schemas.errors import NotFound
from schemas.job import Evaluation

_DIGEST_AFTER = Argument(
    name="digest_after_days",
    summary="days that evidence must be old before its words may go into a digest; 0: no digests",
    setting="digest_after_days",
    bounds=(0.0, 100_000.0),
)

JOBS: Mapping[str, Job] = {
    job.name: job
    for job in (
        Job(name="decay", summary="decides again what time has changed: only slots that are due", step=decay),
        Job(
            name="compaction",
            summary="archives what the same source said again, later, and the words of what several said alike",
            step=compact,
            arguments=(_DIGEST_AFTER,),
        ),
        Job(
            name="archive",
            summary="archives slots that nobody speaks of and in which nothing is held",
            step=archive,
            arguments=(
                Argument(
                    name="after_days",
                    summary="days that nobody must have spoken of a slot",
                    setting="archive_after_days",
                    bounds=(0.0, 100_000.0),
                ),
            ),
        ),
        Job(
            name="budget",
            summary="makes room in a bank that is near the bounds of its budget",
            step=keep_budget,
            arguments=(_DIGEST_AFTER,),
        ),
        Job(name="restore", summary="brings everything that is archived back", step=restore, of="files"),
        Job(
            name="reindex",
            summary="makes every row of the index anew from the graph",
            step=reindex,
            of="beliefs",
            gpus=1.0,
        ),
        Job(
            name="merge-proposals",
            summary="finds entities that may be one, for `entities --proposals`",
            step=propose_merges,
            of="entities",
            arguments=(
                Argument(name="at_least", summary="the least score", setting="proposals_at_least", bounds=(0.0, 1.0)),
            ),
        ),
        Job(
            name="calibrate",
            summary="learns from known answers and feedback how far sources are to be trusted, and decides by it",
            step=calibrate,
            arguments=(Argument(name="gold", summary="a file of known answers", setting="calibrate_gold", local=True),),
        ),
        Job(
            name="learn-value",
            summary="learns from recalls and feedback what is of use",
            step=learn,
            of="beliefs",
        ),
        Job(name="summaries", summary="writes stored summaries again that are out of date", step=summaries),
        Job(
            name="evaluate",
            summary="runs an evaluation on known data and keeps its figures",
            step=evaluate,
            gpus=1.0,
            arguments=(
                Argument(name="evaluation", summary="which one", setting="evaluate", choices=get_args(Evaluation)),
                Argument(name="data", summary="where its data is", setting="evaluate_data", local=True),
            ),
        ),
    )
}


def job_named(name: str) -> Job:
    """The job of a name. Raises NotFound."""
    if name not in JOBS:
        raise NotFound(f"there is no job {name!r:.80}; there are {', '.join(JOBS)}")
    return JOBS[name]
