"""`sweep=optuna`: it learns from what it is told, remembers over stays, and says what it needs."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from run_files import journalled

from tfexp.experiment.sweeps.space import Point, Space, space_of

QUICK = ["data=line", "train.steps=20", "train.eval_every=10", "train.checkpoint_every=0", "hydra.sweep.dir=sweep"]


def test_without_optuna_it_says_what_to_install(cli: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    ended = cli("-m", *QUICK[:-1], "sweep=optuna", "optimizer.learning_rate=0.1,0.2")
    assert (ended.code, ended.err) == (2, "tfexp: sweep: optuna needs Optuna: pip install 'tfexp[search]'\n")
    assert list(tmp_path.iterdir()) == []


def space(*words: str) -> Space:
    parse = OverridesParser.create().parse_override
    return space_of([parse(word) for word in words], lambda group: [])


def search(of: Space, storage: Path | None = None, **changes: Any) -> Any:
    pytest.importorskip("optuna")
    from tfexp.experiment.sweeps.optuna_search import OptunaSearch

    options = {"trials": 40, "seed": 1, "sampler": "TPESampler", "minimizes": True, "storage": storage, "sweep": "a"}
    return OptunaSearch(of, **{**options, **changes})


def value(point: Point) -> float:
    """Least at x=3 with kind=b, where y matters."""
    return (float(point["x"]) - 3) ** 2 + (5 if point["kind"] == "a" else abs(int(point["y"]) - 7) / 10)


SPACE = ["x=interval(-10,10)", "kind=a,b", 'y=tag("kind=b",int(interval(0,20)))']


def test_it_gets_better(tmp_path: Path) -> None:
    looking = search(space(*SPACE))
    values = []
    for number, point in enumerate(iter(looking.ask, None)):
        assert ("y" in point) == (point["kind"] == "b")
        values.append(value(point))
        looking.tell(number, values[-1])
    assert len(values) == 40
    assert min(values) < 1
    assert sum(values[-15:]) < sum(values[:15]) / 2


def test_it_remembers_over_stays(tmp_path: Path) -> None:
    first, points = search(space(*SPACE), tmp_path / "study.log"), []
    for number in range(12):
        points.append(first.ask())
        if number < 9:
            first.tell(number, value(points[-1]))
    first.ask()  # and the driver was ended before it wrote it down
    second = search(space(*SPACE), tmp_path / "study.log")
    second.take_up(points)
    for number in range(12):
        second.tell(number, value(points[number]) if number != 10 else None, halved_at=5 if number == 11 else None)
    assert len(list(iter(second.ask, None))) == 40 - 12
    states = [trial.state.name for trial in second._study.get_trials()]
    assert states[:13] == ["COMPLETE"] * 10 + ["FAIL", "PRUNED", "FAIL"]
    other = search(space(*SPACE), tmp_path / "study.log", sweep="b")  # another sweep learns from it, and has its own points
    other.take_up([])
    assert other.ask() is not None
    with pytest.raises(Exception, match="is to minimize, and this sweep to maximize"):
        search(space(*SPACE), tmp_path / "study.log", minimizes=False).ask()


def test_a_sweep_with_it_is_taken_up(cli: Callable, tmp_path: Path) -> None:
    pytest.importorskip("optuna")
    words = ["sweep=optuna", "sweep.trials=5", "optimizer=sgd,adam", "optimizer.learning_rate=tag(log,interval(1e-3,1))"]
    dry = cli("-m", *QUICK[:-1], *words, "sweep.dry=true")
    assert (
        dry.out == "the trials are chosen as it goes; every value that there is to choose was checked, and nothing was run\n"
    )
    assert list(tmp_path.iterdir()) == []
    assert cli("-m", *QUICK, *words).code == 0
    path = tmp_path / "sweep" / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    at = [number for number, line in enumerate(lines) if '"started"' in line][3]
    path.write_text("".join(lines[: at + 1]))
    (later,) = (tmp_path / "sweep").glob("4-*")
    shutil.rmtree(later)
    ended = cli("-m", "sweep.resume=sweep")
    assert ended.code == 0, ended.err
    events = journalled(tmp_path / "sweep")
    assert [event["point"] for event in events if event["kind"] == "planned"][:4] == [
        event["point"] for event in map(json.loads, lines) if event["kind"] == "planned"
    ][:4]
    with (tmp_path / "sweep" / "sweep.csv").open() as file:
        assert [row["status"] for row in csv.DictReader(file)] == ["finished"] * 5
