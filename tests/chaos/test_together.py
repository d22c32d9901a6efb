"""A short fixed part of `python -m tests.chaos simulate --mode sync`."""

from __future__ import annotations

import pytest

from tests.chaos.simulation import Violation
from tests.chaos.together import simulate_together
from tests.chaos.world import Faults
from tfexp.experiment.recovering import State
from tfexp.experiment.together import Together


@pytest.mark.parametrize("seed", [4, 17], ids=["all have a part in each step", "one is spare"])
def test_every_step_is_made_once_of_the_gradients_it_is_to_be_made_of(seed: int) -> None:
    outcome = simulate_together(seed, events=1500)
    assert outcome.steps > 0
    assert sum(outcome.happened.values()) > 5


def test_a_worker_that_hands_in_again_as_if_it_were_its_first_time_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def join_as_it_is(self: Together, session: object) -> int:
        marks = self._rule.generations
        while not (session.run(marks.exist) and session.run(marks.look)[0]):  # type: ignore[attr-defined]
            self.pause()
        return int(session.run(self._rule.join))  # type: ignore[attr-defined]

    monkeypatch.setattr(Together, "_follow", join_as_it_is)
    often_away = Faults(0, 0, 0, 0, kill=0.004, suspend=0.008, back=0.02)
    with pytest.raises(Violation, match="were applied twice"):
        simulate_together(4, often_away)


def test_a_chief_that_goes_on_after_half_an_update_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(State, "_torn", lambda self, session: False)
    with pytest.raises(Violation, match=r"were applied twice|of different steps"):
        simulate_together(2)
