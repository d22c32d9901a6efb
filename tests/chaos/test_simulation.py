"""A short fixed part of `python -m tests.chaos simulate`."""

from __future__ import annotations

import pytest

from tests.chaos.simulation import Violation, simulate
from tests.chaos.world import Faults
from tfexp.distributed import worker


@pytest.mark.parametrize("seed", range(6))
def test_training_survives_and_applies_every_gradient_at_most_once(seed: int) -> None:
    outcome = simulate(seed)
    assert outcome.steps > 0
    assert sum(outcome.happened.values()) > 5


def test_a_seed_is_a_history() -> None:
    assert simulate(3) == simulate(3)


def test_a_worker_that_runs_what_comes_twice_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its memory of what ran, a repeated request is a gradient that is applied twice."""
    monkeypatch.setattr(worker, "_REMEMBERED_RUNS", 0)
    faults = Faults(kill=0, suspend=0, lost_request=0, lost_reply=0, repeated_request=0.2)

    def simulate_several() -> None:
        for seed in range(10):
            simulate(seed, faults)

    with pytest.raises(Violation, match="were applied more than once"):
        simulate_several()
