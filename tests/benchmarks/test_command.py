"""The one command for all measurements: what it writes, and that its sums are right. No figure is judged here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from experiments.benchmarks import __main__ as command
from experiments.benchmarks.measuring import NUMPY, OURS, THEIRS, Figure


def test_a_ratio_is_the_median_of_the_rounds_ratios() -> None:
    rounds = [{OURS: 2.0, THEIRS: 8.0}, {OURS: 10.0, THEIRS: 10.0}, {OURS: 1.0, THEIRS: 3.0}]
    slower = Figure("step", "x", "µs", rounds)
    assert (slower.ratio(), slower.ratios(), slower.median(OURS)) == (3.0, [1.0, 3.0, 4.0], 2.0)
    faster = Figure("cluster", "x", "steps/s", rounds, smaller_is_better=False)
    assert faster.ratio() == pytest.approx(1 / 3)
    assert Figure("step", "x", "µs", [{OURS: 2.0}]).ratio() is None
    beside = Figure("step", "x", "µs", [{OURS: 2.0, NUMPY: 1.0}], aim=9.0)
    assert (beside.ratio(), beside.ratio(NUMPY), beside.is_reached) == (None, 0.5, True)
    assert not Figure("runs", "x", "s", [{OURS: 2.0}], at_most=1.0).is_reached


def test_figures_are_written_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = [
        Figure("step", "one", "µs", [{OURS: 2.0, THEIRS: 6.0}], 2.0),
        Figure("step", "two", "µs", [{OURS: 1.0}], point=("a curve", 10)),
    ]
    monkeypatch.setattr(command, "limits", lambda: {"BLAS, GFLOP/s": 50.0})
    monkeypatch.setattr(command, "machine", lambda options: {"cores": 2})
    monkeypatch.setattr(command, "_figures", lambda group, options: iter(measured))
    monkeypatch.setattr(command, "COMMITTED", tmp_path / "kept.json")
    for out in ("first", "second"):
        monkeypatch.setattr("sys.argv", ["benchmarks", "step", "--keep", "--out", str(tmp_path / out)])
        assert command.main() == 0
        found = json.loads((tmp_path / out / "figures.json").read_text())
        assert [(f["name"], f["ratio"]) for f in found["figures"]] == [("one", 3.0), ("two", None)]
        assert all((tmp_path / out / picture).stat().st_size > 0 for picture in ("ratios.png", "growth.png"))
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("| one")] == [
        "| one | µs | 2 | 6 | 3x (3x to 3x) |  |  | 2x |  |",
        "| one | µs | 2 | 6 | 3x (3x to 3x) |  |  | 2x | 3x |",
    ]


def test_a_group_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["benchmarks", "steps"])
    with pytest.raises(SystemExit):
        command.main()
    assert "there is no group 'steps'; the groups are: start, step," in capsys.readouterr().err


def test_an_engine_answers() -> None:
    """One program of this engine alone, in its process."""
    from experiments.benchmarks.measuring import Options
    from experiments.benchmarks.step_speed.step_speed import figures

    options = Options(1, 0.001, "one fed addition", "false", "false")
    (figure,) = figures(options)
    assert figure.rounds[0].keys() == {OURS, NUMPY} and all(value > 0 for value in figure.rounds[0].values())
