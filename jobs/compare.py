"""Holds banks that jobs change against those on which they run in shadow mode: what is kept, moved, and of use."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from jobs.schedule import is_treated
from schemas.job import JobSide, JobSides
from stores.archive import Archive
from stores.ledger import Ledger
from stores.ports import GraphStore
from stores.sqlite.usage import UsageFile

_RUNS = 10_000
_PAGE = 1_000
_KEPT = ("slots", "beliefs", "evidence")


def sides_of(
    banks: Sequence[str],
    graph: GraphStore,
    ledger: Ledger,
    archive: Archive,
    usage: UsageFile,
    treats: Callable[[str], bool],
) -> tuple[JobSide, JobSide]:
    """Those of the banks that are treated, and the others; dry runs are left out, as nobody was treated by them."""

    def side(treated: bool) -> JobSide:
        mine = [bank for bank in banks if treats(bank) is treated]
        return JobSide(
            treated=treated,
            banks=len(mine),
            kept=_summed(_kept(graph, bank) for bank in mine),
            archived=sum(archive.size(bank) for bank in mine),
            archive_bytes=sum(archive.takes(bank) for bank in mine),
            runs=_summed(_runs(ledger, bank) for bank in mine),
            usage=_summed(_used(usage, bank) for bank in mine),
        )

    return side(True), side(False)


def comparable(graph: GraphStore, archive: Archive) -> list[str]:
    """The banks that hold anything, be it in the archive alone, by name."""
    return sorted({*graph.banks(), *archive.banks()})


def all_sides(page: Callable[[str], JobSides]) -> JobSides:
    """The sum of all pages of a comparison; each is asked for by the `next` of the page before."""
    total = page("")
    while total.next:
        more = page(total.next)
        (treated, shadow), (further, left) = total.sides, more.sides
        total = JobSides((_added(treated, further), _added(shadow, left)), more.next)
    return total


def treats_by(patterns: str, share: float) -> Callable[[str], bool]:
    """Whether jobs change a bank, by the settings `jobs.banks` and `jobs.share`."""
    return lambda bank: is_treated(bank, patterns, share)


def _added(one: JobSide, other: JobSide) -> JobSide:
    return JobSide(
        treated=one.treated,
        banks=one.banks + other.banks,
        kept=_summed((Counter(one.kept), Counter(other.kept))),
        archived=one.archived + other.archived,
        archive_bytes=one.archive_bytes + other.archive_bytes,
        runs=_summed((Counter(one.runs), Counter(other.runs))),
        usage=_summed((Counter(one.usage), Counter(other.usage))),
    )


def _kept(graph: GraphStore, bank: str) -> Counter[str]:
    counts = graph.counts(bank)
    return Counter({name: counts[name] for name in _KEPT})


def _runs(ledger: Ledger, bank: str) -> Counter[str]:
    """What runs counted, as `JOB COUNT`, and how many runs there were, as `JOB runs`."""
    found: Counter[str] = Counter()
    for run in ledger.runs(None, bank, _RUNS):
        if run.mode != "dry run":
            found[f"{run.job} runs"] += 1
            found.update({f"{run.job} {name}": count for name, count in run.counts.items()})
    return found


def _used(usage: UsageFile, bank: str) -> Counter[str]:
    found: Counter[str] = Counter()
    after = ""
    while known := usage.beliefs(bank, after, _PAGE):
        for one in usage.usage(bank, known).values():
            found["recalled"] += one.recalled
            found["right or used"] += one.right + one.used
            found["wrong"] += one.wrong
        after = known[-1]
    return found


def _summed(each: Iterable[Counter[str]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in each:
        total += one
    return dict(sorted(total.items()))
