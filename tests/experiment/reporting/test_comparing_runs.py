"""`python -m tfexp.runs show` and `compare`: a run whole, several beside each other, their curves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.axes import Axes
from PIL import Image
from written_runs import write_run

from tfexp.experiment.reporting.comparison import circumstances, parted
from tfexp.experiment.reporting.find import find_runs
from tfexp.experiment.reporting.one_run import spark


def rows(out: str) -> dict[str, list[str]]:
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if line.startswith("│")]
    return {row[0]: row[1:] for row in cells}


def test_one_run_is_shown_whole(tmp_path: Path, show: Callable) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "checkpoints").mkdir()
    (folder / "checkpoints" / "model.ckpt-100.index").write_bytes(b"x" * 1500)
    code, out, err = show("show", "run")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("run  finished  step 100 (epoch 9.091), 1.50 s, 67 steps/s, started 2026-03-04")
    assert rows(out)["loss"] == ["0.00990099", "0.019802", "0.019802 at 100", "█▂▁▁▁▁▁▁▁▁▁"]
    assert "  optimizer  adam learning_rate=0.1" in lines
    assert "  data      tumours, 455 + 114 rows, SHA-256 abababababab" in lines
    assert "  checkpoints/   1.5 kB in 1 file" in lines


def test_the_best_of_a_run_may_not_be_its_last(tmp_path: Path, show: Callable) -> None:
    write_run(tmp_path / "run", loss=lambda step: 1.0 + abs(step - 40) / 100)
    shown = rows(show("show", "run")[1])
    assert (shown["loss"][2], shown["accuracy"][2]) == ("1 at 40", "0.5 at 40")


def test_few_runs_stand_beside_each_other(tmp_path: Path, show: Callable) -> None:
    write_run(tmp_path / "a", rate=0.1, loss=lambda step: 0.5)
    write_run(tmp_path / "b", rate=0.2, loss=lambda step: 0.25, manifest={"versions": {"python": "3.11.7", "numpy": "2.3"}})
    code, out, err = show("compare", "a", "b")
    assert (code, err) == (0, "")
    assert list(rows(out)) == [
        "status", "optimizer.learning_rate", "step", "time", "train.loss", "train.accuracy", "test.loss", "test.accuracy",
        "versions.numpy",
    ]  # fmt: skip
    assert rows(out)["test.loss"] == ["0.5", "0.25"]
    assert rows(out)["versions.numpy"] == ["2.4.6", "2.3"]
    assert "the settings are the same" in show("compare", "a")[1]


def test_many_runs_stand_below_each_other(tmp_path: Path, show: Callable) -> None:
    for number in range(9):
        write_run(tmp_path / "sweep" / str(number), seed=number, manifest={"git": {"commit": f"{number % 2}" * 40}})
    code, out, _ = show("compare", "sweep")
    assert code == 0
    assert rows(out)["3"] == ["finished", "3", "100", "0.019802", "0.98058"]
    assert out.splitlines()[-1] == "not the same for all: git.commit (2 values)"


def test_a_curve_says_what_is_its_own(tmp_path: Path, show: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    labels: list[str] = []
    plot = Axes.plot

    def noted(axes: Axes, *places: Any, **options: Any) -> Any:
        labels.append(options["label"])
        return plot(axes, *places, **options)

    monkeypatch.setattr(Axes, "plot", noted)
    for name, rate in (("a", 0.1), ("b", 0.03)):
        write_run(tmp_path / "runs" / name, rate=rate, steps=20)
    assert show("compare", "runs", "--curves", "curves.png")[0] == 0
    assert labels[:2] == ["a  learning_rate=0.1  0.09524", "b  learning_rate=0.03  0.09524"]


@pytest.mark.parametrize(("count", "size"), [(3, (1344, 547)), (12, (1344, 504))])  # few are named below the curves
def test_curves_are_drawn(count: int, size: tuple[int, int], tmp_path: Path, show: Callable) -> None:
    for number in range(count):
        write_run(tmp_path / "runs" / str(number), loss=lambda step, number=number: 100 / (1 + number + step))
    (tmp_path / "runs" / "0" / "metrics.jsonl").unlink()
    code, out, err = show("compare", "runs", "--curves", "curves.png")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == f"curves      curves.png (of {count - 1} of the {count} runs)"
    with Image.open(tmp_path / "curves.png") as picture:
        assert picture.size == size
        assert len(picture.convert("RGB").getcolors(1 << 20)) > 50
    found = show("compare", "runs", "--curves", "curves.xyz")
    assert found[0] == 1
    assert found[2].startswith("tfexp: cannot write curves.xyz: Format 'xyz' is not supported")
    refused = show("compare", "runs", "--curves", "no/curves.png")
    assert refused[2] == "tfexp: cannot write no/curves.png: No such file or directory\n"


def test_nothing_to_draw_is_said(tmp_path: Path, show: Callable) -> None:
    (write_run(tmp_path / "run") / "metrics.jsonl").write_text("")
    code, _, err = show("compare", "run", "--curves", "curves.png")
    assert (code, err) == (1, "tfexp: there are no curves to draw: none of the runs has an evaluation in metrics.jsonl\n")


def test_settings_that_only_some_have(tmp_path: Path) -> None:
    write_run(tmp_path / "a")
    config = (write_run(tmp_path / "b") / "config.yaml").read_text()
    (tmp_path / "b" / "config.yaml").write_text(config.replace("activation: relu", "dropout: 0.5"))
    assert parted(find_runs(tmp_path)) == ["model.activation", "model.dropout"]
    assert circumstances(find_runs(tmp_path)) == {}


def test_other_libraries_are_told_by_name(tmp_path: Path) -> None:
    for version in ("0.3.31", "0.3.34"):
        blas = [{"internal_api": "openblas", "version": version}, {"internal_api": "mkl", "version": "2024"}]
        write_run(tmp_path / version, manifest={"runtime": {"blas": blas}})
    told = circumstances(find_runs(tmp_path))
    assert told == {"runtime.blas": ["openblas 0.3.31; mkl 2024", "openblas 0.3.34; mkl 2024"]}


def test_a_line_of_text_shows_a_curve() -> None:
    assert spark([]) == ""
    assert spark([3.0]) == "▁"
    assert spark([1.0, 2.0, 3.0]) == "▁▅█"
    assert len(spark([float(value) for value in range(1000)])) == 32


@pytest.mark.parametrize("command", ["show", "compare", "report"])
def test_a_folder_that_one_may_not_look_into_is_named(
    command: str, tmp_path: Path, show: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refuse)  # root may look into everything
    assert show(command, "theirs") == (1, "", "tfexp: theirs: Permission denied\n")
