"""What a job takes of a cluster: what was asked for must be there, what is liked is taken as far as it is."""

import pytest

from actors.placing import Resources, placed
from schemas.errors import InvalidInput

SMALL, LARGE, WITH_GPU = Resources(2), Resources(16), Resources(4, 2)


@pytest.mark.parametrize(
    ("nodes", "cpus", "gpus", "liked", "expected"),
    [
        ([SMALL], None, None, Resources(1), Resources(1)),
        ([SMALL], None, None, Resources(4), Resources(2)),
        ([SMALL, LARGE], None, None, Resources(4), Resources(4)),
        ([SMALL, LARGE, WITH_GPU], None, None, Resources(1, 1), Resources(1, 1)),
        ([SMALL, LARGE, WITH_GPU], None, None, Resources(8, 1), Resources(4, 1)),
        ([SMALL, LARGE, WITH_GPU], 8, None, Resources(1, 1), Resources(8, 0)),
        ([SMALL, WITH_GPU], None, 0, Resources(1, 1), Resources(1, 0)),
        ([SMALL, WITH_GPU], None, 0.5, Resources(1), Resources(1, 0.5)),
        ([WITH_GPU], 4, 2, Resources(1), WITH_GPU),
        ([Resources(0), SMALL], 0, None, Resources(1), Resources(0)),
    ],
)
def test_resources_fit_a_node(
    nodes: list[Resources], cpus: float | None, gpus: float | None, liked: Resources, expected: Resources
) -> None:
    assert placed(nodes, cpus=cpus, gpus=gpus, liked=liked) == expected


@pytest.mark.parametrize(
    ("nodes", "cpus", "gpus", "reason"),
    [
        ([], None, None, "address: is of a cluster without a node"),
        ([SMALL, LARGE], None, 1, "gpus: is 1, but the cluster's nodes have 16 CPUs and 0 GPUs, 2 CPUs and 0 GPUs"),
        ([SMALL, WITH_GPU], 5, None, "cpus: is 5, but the cluster's nodes have"),
        ([LARGE, WITH_GPU], 8, 1, "cpus: are 8 beside 1 GPUs on one node, but"),
        ([WITH_GPU], None, 1.5, "gpus: is 1.5; above 1 use a whole number"),
    ],
)
def test_what_no_node_can_ever_give_is_refused_by_name(
    nodes: list[Resources], cpus: float | None, gpus: float | None, reason: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        placed(nodes, cpus=cpus, gpus=gpus, liked=Resources(1))
    assert reason in str(refused.value)
