"""`python -m tfexp.preview`: what a run would be, in the data's own terms, and nothing of it done."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tfexp.preview import main

Shown = Callable[..., tuple[int, list[str], str]]


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, list[str], str]:
        code = main(list(words))
        captured = capsys.readouterr()
        return code, [" ".join(line.replace("│", " ").split()) for line in captured.out.splitlines()], captured.err

    return run


def test_a_table_with_classes(shown: Shown, tmp_path: Path) -> None:
    rng = np.random.RandomState(0)
    kinds = ["cat" if at % 5 else "dog" for at in range(50)]
    rows = [f"{4e6 + at},{0.0},{value},{kind}" for at, (value, kind) in enumerate(zip(rng.randn(50), kinds, strict=True))]
    (tmp_path / "pets.csv").write_text("\n".join(["id,none,size,kind", *rows]))
    data = ["data=csv", "data.path=pets.csv", "data.label=kind", "data.class_names=[cat,dog]", "data.ignore=[size]"]
    code, lines, err = shown(*data, "model=mlp", "model.hidden=[7]", "train.batch_size=8", "train.steps=20")
    assert (code, err) == (0, "")
    assert lines[:2] == ["Mlp on CsvFile", "data pets.csv: 40 rows to train on, 10 to test on"]
    assert "none 0 0 0" in lines
    (numbers,) = (line.split() for line in lines if line.startswith("id "))
    assert 4e6 <= float(numbers[1]) < float(numbers[3]) <= 4e6 + 50
    (classes,) = (line for line in lines if line.startswith("classes"))
    counted = dict(part.split(": ") for part in classes.removeprefix("classes ").split(", "))
    assert sum(map(int, counted.values())) == 40
    assert list(counted) == ["cat", "dog"]
    assert "course 20 steps of 8 rows, an evaluation every 50: 5 steps an epoch, 4 epochs" in lines
    assert "model/hidden1/weights [2, 7] 14" in lines
    learned = 2 * 7 + 7 + 7 * 2 + 2
    assert lines[-1].startswith(f"model {learned} numbers are learned; {2 * learned + 3} more are kept")  # Adam's, the step
    assert [path.name for path in tmp_path.iterdir()] == ["pets.csv"]


def test_numbers_and_many_columns(shown: Shown) -> None:
    _, lines, _ = shown("data=diabetes")
    assert "label 25 151.345 346" in lines
    assert "age 19 48.7062 79" in lines
    _, lines, _ = shown("data=digits", "model=softmax")
    assert "pixel_1_3 0 12.0535 16" in lines
    assert "and 52 more columns" in lines


def test_what_cannot_be_run_is_said(shown: Shown, tmp_path: Path) -> None:
    code, lines, err = shown("data=digits")
    assert (code, lines) == (2, [])
    assert err.startswith("tfexp: model: Linreg predicts numbers and this data has 10 classes")
    (tmp_path / "mine" / "model").mkdir(parents=True)
    (tmp_path / "mine" / "model" / "small.yaml").write_text("defaults:\n  - mlp\n  - _self_\nhidden: [3]\n")
    assert shown("--config-dir", "mine", "model=small", "data=line")[0] == 0
    assert shown("model=small")[0] == 2
