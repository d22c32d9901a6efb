"""A short fixed part of `python -m tests.chaos clusters`: the tasks of real clusters are killed, and one is suspended."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.clusters import MODES, Action, run, schedule


@pytest.mark.parametrize(
    ("mode", "steps", "actions"),
    [
        ("async", 2400, [Action(0.6, "ps:0"), Action(1.2, "worker:1", pause=0.3)]),
        ("sync", 800, [Action(0.4, "worker:1"), Action(1.2, "worker:0")]),
    ],
)
def test_a_run_survives_the_loss_of_its_tasks(mode: str, steps: int, actions: list[Action], tmp_path: Path) -> None:
    ended = run(actions, tmp_path, MODES[mode], steps)
    restarts = ended.result["timing"].get("restarts", {})
    assert restarts.get(actions[0].task) == 1
    assert all(times == 1 for times in restarts.values())
    assert all(0 < seconds < 30 for of in ended.recoveries.values() for seconds in of)
    assert any(f"{actions[0].task} is gone" in line and "(restart 1 of 10)" in line for _, line in ended.said)


def test_a_schedule_is_its_seed() -> None:
    assert schedule(7) == schedule(7) != schedule(8)
