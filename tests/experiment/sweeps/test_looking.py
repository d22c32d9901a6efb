"""What a sweep leaves to look at: the picture, TensorBoard's HParams tab, and the table that lives while it runs."""

from __future__ import annotations

import dataclasses
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tfexp.experiment.sweeps.command import _title
from tfexp.experiment.sweeps.curves import curve_of, draw_learning
from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.plots import _Scale, draw_sweep
from tfexp.experiment.sweeps.results import Row, as_csv, ranking
from tfexp.experiment.sweeps.table import LiveTable, short_names

QUICK = ["data=line", "train.steps=20", "train.eval_every=10", "train.checkpoint_every=0", "hydra.sweep.dir=sweep"]
SWEEP: Any = SimpleNamespace(minimizes=True, part="test", metric_name="loss", metric="loss")


def row(number: int, value: float | None, status: str = "finished", **varied: str) -> Row:
    losses = {"loss": value}
    numbers = None if value is None else {"status": status, "step": 20, "train": losses, "test": losses}
    return Row(number, number, status, 1, varied, numbers, value, 0.5, f"{number}-linreg", "")


ROWS = [
    row(0, 0.5, a="0.001", b="x"),
    row(1, 0.1, a="0.1", b="y"),
    row(2, 0.3, "halved", a="1", b="y"),
    row(3, None, "failed", a="10", b="x"),
    row(4, 0.2, b="x"),
]


def test_ranking_has_the_best_first_and_the_failed_last() -> None:
    assert [entry.point for entry in ranking(ROWS, SWEEP)] == [1, 4, 0, 2, 3]
    SWEEP.minimizes = False
    assert [entry.point for entry in ranking(ROWS, SWEEP)] == [0, 4, 1, 2, 3]
    SWEEP.minimizes = True


def test_table_file_has_a_column_for_everything() -> None:
    lines = as_csv(ROWS).splitlines()
    assert lines[0] == "trial,point,status,attempts,a,b,train.loss,test.loss,step,seconds,folder,message"
    assert lines[1] == "0,0,finished,1,0.001,x,0.5,0.5,20,0.500,0-linreg,"
    assert lines[4] == "3,3,failed,1,10,x,,,,0.500,3-linreg,"


def test_picture(tmp_path: Path) -> None:
    assert draw_sweep(tmp_path / "sweep.png", "5 trials", SWEEP, ranking(ROWS, SWEEP))
    with Image.open(tmp_path / "sweep.png") as image:
        pixels = np.asarray(image.convert("RGB"))
    assert pixels.shape[1] == 1152
    assert (np.abs(pixels.astype(int) - [255, 114, 92]).sum(-1) < 20).sum() > 50, "the best has a ring"
    nothing = [row(0, 0.5, a="1"), row(1, 0.4, a="1")]
    assert not draw_sweep(tmp_path / "none.png", "", SWEEP, ranking(nothing, SWEEP))
    assert not draw_sweep(tmp_path / "none.png", "", SWEEP, ranking(ROWS[3:], SWEEP))
    assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize(
    ("values", "marks"),
    [
        (["32", "4", "16", "4"], [(0.0, "4"), (3 / 7, "16"), (1.0, "32")]),
        (["0.1", "0.01", "0.001"], [(0.0, "0.001"), (0.5, "0.01"), (1.0, "0.1")]),
        (["1", "2", "101"], [(0.0, "1"), (0.15, "2"), (1.0, "101")]),
        (["50", "52", "101"], [(0.0, "50"), (1.0, "101")]),  # no room for 52
        (["1024", "2048"], [(0.0, "1024"), (1.0, "2048")]),
        (["1", "1.0"], [(0.5, "1")]),
        (["relu", "elu"], [(0.0, "elu"), (1.0, "relu")]),
        (["[64,32]", "[128]", "[64]"], [(0.0, "[64]"), (0.5, "[64,32]"), (1.0, "[128]")]),
    ],
)
def test_values_along_an_axis(values: list[str], marks: list[tuple[float, str]]) -> None:
    assert [(pytest.approx(share, abs=0.005), text) for share, text in marks] == _Scale(values).marks()


def evaluated(*pairs: tuple[int, float]) -> list[dict[str, Any]]:
    return [{"step": step, "train": {"loss": -1.0}, "test": {"loss": loss}} for step, loss in pairs]


def test_curves_of_seeds_are_their_mean_as_far_as_all_have_come() -> None:
    one, other = evaluated((0, 8.0), (10, 4.0), (30, 2.0)), evaluated((0, 6.0), (20, 2.0))
    curve = curve_of([one, other], "test", "loss")
    assert curve is not None
    assert curve.steps.tolist() == [0, 10, 20]
    assert curve.mean.tolist() == [7.0, 4.0, 2.5], "in between, on the line that joins the evaluations"
    assert curve.spread is not None
    assert curve.spread == pytest.approx(np.array([1.0, 0.0, 0.5]) * 2**0.5)
    alone = curve_of([one], "train", "loss")
    assert alone is not None
    assert (alone.mean.tolist(), alone.spread) == ([-1.0] * 3, None)
    assert curve_of([one, []], "test", "loss") is None


@pytest.mark.parametrize("points", [2, 9])
def test_curves_of_all_points_are_in_one_picture(points: int, tmp_path: Path) -> None:
    rows = []
    for number in range(2 * points):
        one = row(number, 0.1 * number, a=str(number // 2), **{"train.seed": str(number % 2)})
        rows.append(dataclasses.replace(one, point=number // 2))
        (tmp_path / one.folder).mkdir()
        lines = evaluated((0, 3.0 + number % 2), (20, 0.1 * number))
        (tmp_path / one.folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = tmp_path / "curves.png"
    assert draw_learning(path, _title(rows), SWEEP, ranking(rows, SWEEP), tmp_path)
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    best = [0x42, 0x69, 0xD0] if points == 2 else [68, 1, 84]
    assert (np.abs(pixels - best).sum(-1) < 20).sum() > 50
    assert not draw_learning(tmp_path / "none.png", "", SWEEP, ranking(rows[:1], SWEEP), tmp_path)
    assert not (tmp_path / "none.png").exists()


def test_its_title_counts_the_trials_that_are_not_in_it() -> None:
    assert _title(ROWS) == "5 trials, 1 of them ended early (dashed, hollow), 1 of them without a value (not shown)"
    assert _title(ROWS[:2]) == "2 trials"
    assert _title([dataclasses.replace(one, point=7) for one in ROWS[:2]]) == "2 trials, 2 of each: mean and spread"


@pytest.mark.parametrize(
    ("values", "is_log"),
    [("0.001 0.003 0.01 0.03", True), ("0.01 0.1", True), ("0.1 0.3 0.9", False), ("-1 10 100", False), ("sgd adam", False)],
)
def test_what_is_tried_in_multiples_has_a_logarithmic_axis(values: str, is_log: bool) -> None:
    assert _Scale(values.split()).is_log == is_log


def test_names_are_short_where_that_is_enough() -> None:
    assert short_names(["optimizer.learning_rate", "train.seed", "data.split_seed", "model"]) == [
        "learning_rate", "seed", "split_seed", "model",
    ]  # fmt: skip
    assert short_names(["a.seed", "b.seed"]) == ["a.seed", "b.seed"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_table_that_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    trials: Any = {
        number: SimpleNamespace(varied={"optimizer.learning_rate": f"0.{number}"}, total_steps=50, number=number)
        for number in range(4)
    }
    plan = [{"kind": "planned", "number": number, "same_as": None} for number in trials]
    ledger, stream = Ledger(plan), Terminal()
    table = LiveTable(SWEEP, trials, 4, stream)
    for number in (0, 1, 2):
        ledger.apply({"kind": "started", "trial": number, "attempt": 1, "folder": str(number)})
    table.changed(ledger, 2)
    ledger.trials[2].latest = (30, 0.25)
    numbers = {"step": 50, "test": {"loss": 0.125}}
    ledger.apply({"kind": "ended", "trial": 0, "status": "finished", "again": False, "numbers": numbers})
    ledger.apply({"kind": "ended", "trial": 1, "status": "failed", "again": False, "message": "gone"})
    table.tick()
    table.close()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert re.search(r"2/4 trials  1 running  1 failed  best loss 0.125 \(trial 0\)  \d:\d\d left", shown)
    assert re.search(r"2 │ 0\.2 +│ +0\.25 │ +30/50 │ running", shown)
    assert re.search(r"0 │ 0\.0 +│ +0\.125 │ +50 │ finished", shown)


def test_tensorboard_compares_the_trials(cli: Callable, tmp_path: Path) -> None:
    """As TensorBoard's own backend sees it, also after the sweep was taken up."""
    from tensorboard import context
    from tensorboard.backend.event_processing import data_provider, plugin_event_multiplexer
    from tensorboard.plugins import base_plugin
    from tensorboard.plugins.hparams import api_pb2, backend_context, list_session_groups

    assert cli("-m", *QUICK, "optimizer=sgd,adam", "optimizer.learning_rate=0.1,1e30", "sweep.seeds=1").code == 1
    assert cli("-m", "sweep.resume=sweep").code == 1
    multiplexer = plugin_event_multiplexer.EventMultiplexer()
    multiplexer.AddRunsFromDirectory("sweep")
    multiplexer.Reload()
    provider = data_provider.MultiplexerDataProvider(multiplexer, "sweep")
    backend = backend_context.Context(base_plugin.TBContext(data_provider=provider, logdir="sweep", multiplexer=multiplexer))
    request = api_pb2.ListSessionGroupsRequest(start_index=0, slice_size=100, allowed_statuses=[0, 1, 2, 3])
    for name in ("optimizer", "optimizer.learning_rate"):
        request.col_params.add(hparam=name, include_in_result=True)
    request.col_params.add(metric=api_pb2.MetricName(tag="test/loss"), include_in_result=True)
    groups = list_session_groups.Handler(context.RequestContext(), backend, "", request).run().session_groups
    found = {
        (group.hparams["optimizer"].string_value, group.hparams["optimizer.learning_rate"].number_value): (
            group.sessions[0].status,
            round(group.metric_values[0].value, 3),
        )
        for group in groups
    }
    assert len(groups) == 4
    assert found["sgd", 0.1][0] == found["adam", 0.1][0] == api_pb2.STATUS_SUCCESS
    assert found["sgd", 1e30][0] == api_pb2.STATUS_FAILURE
    assert 0 < found["adam", 0.1][1] < 1
