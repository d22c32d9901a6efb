"""A short fixed part of `python -m tests.chaos clusters`: every task of a real cluster is killed, and one is suspended."""

from __future__ import annotations

from pathlib import Path

from tests.chaos.clusters import Action, run, schedule


def test_a_run_survives_the_loss_of_every_task(tmp_path: Path) -> None:
    actions = (
        Action(0.6, "ps:0"),
        Action(2.0, "worker:1"),
        Action(0.5, "worker:0"),
        Action(1.0, "worker:1", pause=0.3),
    )
    ended = run(actions, tmp_path, steps=4000)
    restarts = ended.result["timing"].get("restarts", {})
    assert restarts.get("ps:0") == 1
    assert all(times == 1 for times in restarts.values())
    assert all(0 < seconds < 30 for of in ended.recoveries.values() for seconds in of)
    assert any("ps:0 is gone" in line and "(restart 1 of 10)" in line for _, line in ended.said)


def test_a_schedule_is_its_seed() -> None:
    assert schedule(7) == schedule(7) != schedule(8)
