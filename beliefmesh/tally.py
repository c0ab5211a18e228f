"""What the verbs of this process have done: observations accepted, questions answered and by whom, jobs run."""

from collections import Counter
from threading import Lock

from jobs.catalogue import JOBS
from schemas.answer import Answer
from schemas.job import Mode
from streams.histogram import Histogram, Histograms

RECALL_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
JOB_BOUNDS = (0.1, 1.0, 5.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 14_400.0)

_MISSING = ("late", "failed")
_ANSWERS = ("answered", "degraded", "empty", "failed")
_RUNS = ("done", "stopped", "busy", "failed")


class VerbCounts:
    """Counts since this process began; for several threads.

    `accepted` is by bank. `recalls` is by outcome: `answered`, `degraded` (a retriever was late or failed), `empty`
    (nothing was found) or `failed`. `retrievers` is by name and how each ended, `candidates` by name; `jobs` by name,
    mode and outcome.
    """

    def __init__(self) -> None:
        self._turn = Lock()
        self.accepted: Counter[str] = Counter()
        self.recalls: Counter[str] = Counter(dict.fromkeys(_ANSWERS, 0))
        self.retrievers: Counter[tuple[str, str]] = Counter()
        self.candidates: Counter[str] = Counter()
        self.jobs: Counter[tuple[str, str, str]] = Counter(
            {(job, "apply", outcome): 0 for job in JOBS for outcome in _RUNS}
        )
        self.recall_seconds = Histogram(RECALL_BOUNDS)
        self.retriever_seconds = Histograms(RECALL_BOUNDS)
        self.job_seconds = Histograms(JOB_BOUNDS)

    def took_in(self, bank: str, observations: int) -> None:
        """Count observations that the log has accepted."""
        with self._turn:
            self.accepted[bank] += observations

    def answered(self, answer: Answer, seconds: float) -> None:
        """Count an answer, and what each retriever gave for it."""
        missing = any(report.state in _MISSING for report in answer.reports)
        with self._turn:
            self.recalls["degraded" if missing else "answered" if answer.found else "empty"] += 1
            for report in answer.reports:
                self.retrievers[report.name, report.state] += 1
                self.candidates[report.name] += report.hits
        self.recall_seconds.add([seconds])
        for report in answer.reports:
            if report.state != "skipped":
                self.retriever_seconds.add(report.name, report.milliseconds / 1_000)

    def not_answered(self) -> None:
        """Count a question that a store left without an answer."""
        with self._turn:
            self.recalls["failed"] += 1

    def ran(self, job: str, mode: Mode, outcome: str, seconds: float) -> None:
        """Count a run of a job: `done`, `stopped` before its end, `busy` as another one runs, or `failed`."""
        with self._turn:
            self.jobs[job, mode, outcome] += 1
        self.job_seconds.add(job, seconds)
