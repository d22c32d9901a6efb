"""`experiments.survival`: that what it measures is what it says. No figure is judged here."""

from __future__ import annotations

import pytest

from experiments.survival import __main__ as command
from experiments.survival import liveness
from experiments.survival.killed import Round
from tfexp.distributed import lane_server


def test_a_cost_is_a_part_of_what_was_made_before() -> None:
    found = Round(first=100.0, second=90.0, without=76.0, seconds=2.0)
    assert (found.cost, found.nothing) == (pytest.approx(0.2), pytest.approx(0.1))
    assert command.described([0.01, 0.02, 0.03]) == "+2.00 ± 1.07 % (middle half +1.00 to +3.00 %)"


def test_checks_are_taken_out_and_put_back() -> None:
    looks = lane_server._Served.abandoned
    ((checked, unchecked),) = liveness.measure(rounds=1, steps=3)
    assert checked > 0
    assert unchecked > 0
    assert lane_server._Served.abandoned is looks
