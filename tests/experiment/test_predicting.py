"""`python -m tfexp.predict`: the rows of a file with what a run's model says of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from run_files import records

from tfexp.experiment.datasets.bundled import Diabetes
from tfexp.predict import main

IRIS = "width,height,kind\n" + "".join(f"{i % 7},{i % 5 + 0.5},{'abc'[i % 3]}\n" for i in range(47))
KINDS = ["data=csv", "data.path=iris.csv", "data.label=kind", "data.class_names=[a,b,c]", "model=mlp", "model.hidden=[5]"]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_classes_by_their_names(cli: Callable, said: Callable, tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text(IRIS)
    ended = cli(*KINDS, "train.steps=20", "train.batch_size=10", "train.keep_best=true", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    (tmp_path / "new.csv").write_text('note,height,width\n"one, two",1.5,3\n,0.5,0\n')
    code, out, err = said("run", "new.csv")
    assert (code, err) == (0, "")
    found = rows(out)
    assert [row["note"] for row in found] == ["one, two", ""]
    for row in found:
        shares = {name: float(row[f"probabilities_{name}"]) for name in "abc"}
        assert sum(shares.values()) == pytest.approx(1, abs=1e-6)
        assert row["classes"] == "abc"[int(row["class_ids"])] == max(shares, key=lambda name: shares[name])

    # with the labels, it is the evaluation of all rows
    code, out, err = said("run", "iris.csv", "--best", "--out", "answers.csv")
    assert (code, out) == (0, "")
    found = rows((tmp_path / "answers.csv").read_text())
    right = sum(row["kind"] == row["classes"] for row in found) / len(found)
    assert len(found) == 47
    assert err.startswith("Mlp on CsvFile after step ")
    assert "over 47 rows: loss " in err and f"accuracy {right:.6g}" in err

    code, _, err = said("run", "iris.csv", "--out", "answers.csv")
    assert (code, err) == (1, "tfexp: cannot write answers.csv: File exists\n")


def test_numbers_in_their_own_unit(cli: Callable, said: Callable, tmp_path: Path) -> None:
    assert cli("train.steps=60", "hydra.run.dir=run").code == 0
    table = Diabetes(standardize=True, test_fraction=0.2, split_seed=0).read()
    lines = [",".join(table.columns), *(",".join(map(repr, map(float, row))) for row in table.features)]
    (tmp_path / "patients.csv").write_text("\n".join(lines))
    code, out, err = said("run", "patients.csv")
    assert (code, err) == (0, "")
    errors = [float(row["predictions"]) - label for row, label in zip(rows(out), table.labels, strict=True)]
    test, train = (records(tmp_path / "run")[-1][part]["mse"] for part in ("test", "train"))
    mean = sum(error**2 for error in errors) / len(errors)
    assert mean == pytest.approx((88 * test + 354 * train) / 442, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "new.csv: the file is empty"),
        ("width,height\n", "new.csv: no rows of data"),
        ("width,heigth\n1,2\n", "there is no column in new.csv called 'height'; did you mean 'heigth'?"),
        ("width,height\n1,2\n1\n", "new.csv, line 3: 1 columns where 2 are expected"),
        ("width,height\n1,x\n", "new.csv, line 2, column 'height': 'x' is not a number"),
        ("width,height,kind\n1,2,d\n", "column 'kind': the label 'd' is none of data.class_names: a, b, c"),
        ("width,height,classes\n1,2,3\n", "the file has a column called 'classes' already"),
        (None, "new.csv cannot be read: No such file or directory"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(
    text: str | None, message: str, trained: Path, said: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trained)
    (trained / "new.csv").unlink(missing_ok=True)
    if text is not None:
        (trained / "new.csv").write_text(text)
    code, out, err = said("run", "new.csv")
    assert (code, out) == (1, "")
    assert message in err


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run in it, and the data that it learned from."""
    from tfexp.experiment.cli import main as train

    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("tfexp.experiment.runner.draw", lambda *arguments: None)
        (folder / "iris.csv").write_text(IRIS)
        assert train([*KINDS, "train.steps=1", "train.batch_size=10", "hydra.run.dir=run"]) == 0
    return folder
