"""A short fixed part of `python -m tests.chaos simulate --mode sync`."""

from __future__ import annotations

import pytest

from tests.chaos.simulation import Violation
from tests.chaos.together import simulate_together
from tfexp.experiment.recovering import State


@pytest.mark.parametrize("seed", [4, 17], ids=["all have a part in each step", "one is spare"])
def test_every_step_is_made_once_of_the_gradients_it_is_to_be_made_of(seed: int) -> None:
    outcome = simulate_together(seed, events=1500)
    assert outcome.steps > 0
    assert sum(outcome.happened.values()) > 5


def test_a_chief_that_goes_on_after_half_an_update_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "_torn", lambda self, session: False)
    with pytest.raises(Violation, match=r"were applied twice|of different steps"):
        simulate_together(5)
