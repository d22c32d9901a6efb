"""Costs out of measurements, a real worker's training, and what the command writes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tfexp as tf
from experiments.saturation import __main__ as command
from experiments.saturation.checking import Check
from experiments.saturation.costs import Costs
from experiments.saturation.curves import Curve, Scene
from experiments.saturation.measured import Measured, costs_of
from experiments.saturation.scaling import Reached
from experiments.saturation.tasks import Trainer
from experiments.saturation.training import Model, Rule

MODEL = Model(4, 100, 100, 8)


class Machine:
    """Says of each run of one worker what it would cost if everything cost this."""

    costs = Costs(3e-4, 2e-3, 1e-4, 2e-4, 3e-10, 1e-10, 2e-10, 4e-10)

    def measure(self, model: Model, rule: Rule, servers: int, workers: int, seconds: float, rounds: int) -> Measured:
        costs, carried = self.costs, model.travelling if model is MODEL else 0
        requests = 2 * servers + (rule.update == "sync")
        worker = costs.step * (1 + (rule.update == "sync")) + requests * costs.asking
        worker += 2 * carried * costs.carrying + (costs.compute if carried else 0)
        of_bytes = 2 * costs.carrying + costs.applying
        if rule.update == "sync":
            of_bytes += costs.gathering + costs.averaging
        server = requests * costs.answering + carried * of_bytes
        return Measured(1 / (worker + server + 2e-5 * requests), server, worker, 2.0)

    def alone(self, what: str, **request: Any) -> dict[str, float]:
        names = ("applying", "gathering", "averaging")
        if what == "work_on_bytes":
            return {name: getattr(self.costs, name) for name in names}
        return {"cost": self.costs.compute}


@pytest.mark.parametrize("update", ["async", "sync"])
def test_costs_are_found_in_what_one_worker_took(update: str) -> None:
    costs, network = costs_of(Machine(), MODEL, Rule(update), 0.1, 1)  # type: ignore[arg-type]
    assert dataclasses.astuple(costs) == pytest.approx(dataclasses.astuple(Machine.costs))
    assert network.near == pytest.approx(1e-5)


@pytest.mark.parametrize("rule", [Rule(), Rule("sync")], ids=str)
def test_a_worker_trains(rule: Rule) -> None:
    (worker,), (server,) = tf.test.create_local_cluster(1, 1)
    cluster = tf.train.ClusterSpec(worker.server_def.cluster)
    trainer = Trainer(cluster, 0)
    for name in ("first", "second"):  # which do not get in each other's way
        trainer.build(dataclasses.asdict(Model(2, 3, 5, 7)), dataclasses.asdict(rule), 1, 1, name)
        answer = trainer.train(0.0) if rule.update == "async" else trainer.train_together(4)
        assert answer["steps"] == (0 if rule.update == "async" else 4)
        trainer.end()
    for one in (worker, server):
        one.stop()


def test_the_command_writes_figures_and_a_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def simulated(scene: Scene) -> Iterator[tuple[Curve, int]]:
        assert (scene.workers, scene.network.bandwidth) == ([1, 2, 4, 8], 1.25e9)
        for group in ("servers", "rules", "models", "divided"):
            busy = (0.2, 0.8, 1.0)
            points = [Reached(10.0 * n, 0.1, part, part, 0.5) for n, part in zip((1, 4, 5), busy, strict=True)]
            yield Curve(group, "1 ps", 1, [1, 4, 8], points), 0

    check = Check("4 MB", "async", 2, 100.0, 90.0, 1.5, (1e-3, 2e-3))
    monkeypatch.setattr(command, "curves", simulated)
    monkeypatch.setattr(command, "_check", lambda given: ({"async": Costs()}, [check]))
    monkeypatch.setattr("sys.argv", ["saturation", "--most", "8", "--out", str(tmp_path)])
    assert command.main() == 0
    found = json.loads((tmp_path / "saturation.json").read_text())
    assert found["error"] == {"median": pytest.approx(0.1), "most": pytest.approx(0.1)}
    assert [curve["saturates_at"] for curve in found["curves"]] == [5.0] * 4
    assert (tmp_path / "saturation.png").stat().st_size > 0
    assert "| servers: 1 ps | 8 | 50.0 | 5.0 | link out, 100% | 5.0 |" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--most", "12"], "--most 12: it has to be a power of two, and 8 at least"),
        (["--rounds", "0"], "--rounds, --measured, --cores: at least one"),
        (["--gigabits", "0"], "--gigabits: more than 0"),
    ],
)
def test_what_makes_no_sense_is_said(
    words: list[str], text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["saturation", *words])
    with pytest.raises(SystemExit):
        command.main()
    assert text in capsys.readouterr().err
