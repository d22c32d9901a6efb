"""What the rows of each class were taken for: a table and a picture in the folder of a run that chooses classes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tfexp.experiment.confusion import Confusion
from tfexp.experiment.plot import draw_confusion

PETS = Confusion(("cat", "a,b", "dog"), ((5, 0, 0), (1, 8, 1), (0, 0, 0)))


def read(run: Path) -> Confusion:
    return Confusion.of_text((run / "confusion.csv").read_text())


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("model=logreg", ("malignant", "benign")),
        ("model=mlp data=digits model.hidden=[5]", tuple("0123456789")),
        ("model=ensemble data=digits", tuple("0123456789")),
    ],
)
def test_it_agrees_with_the_accuracy(words: str, names: tuple[str, ...], cli: Callable, tmp_path: Path) -> None:
    ended = cli(*words.split(), "train.steps=7", "train.eval_every=5", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "confusion   run/confusion.png" in ended.out
    confusion = read(tmp_path / "run")
    assert confusion.names == names
    right, rows = sum(row[at] for at, row in enumerate(confusion.counts)), sum(map(sum, confusion.counts))
    assert rows == json.loads((tmp_path / "run" / "manifest.json").read_text())["data"]["test_rows"]
    numbers = json.loads((tmp_path / "run" / "result.json").read_text())["numbers"]
    assert right / rows == pytest.approx(numbers["test"]["accuracy"], rel=1e-6)


def test_classes_have_their_names_and_are_the_lines(cli: Callable, tmp_path: Path) -> None:
    rows = "".join(f"1,{'oak' if at % 4 else 'ash'}\n" for at in range(60))
    (tmp_path / "trees.csv").write_text("height,kind\n" + rows)
    words = ("data=csv", "data.path=trees.csv", "data.label=kind", "data.class_names=[ash,oak]", "model=softmax")
    ended = cli(*words, "train.steps=20", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    confusion = read(tmp_path / "run")
    assert confusion.names == ("ash", "oak")
    assert [row[0] for row in confusion.counts] == [0, 0], "all trees are alike: they are taken for the frequent ones"
    assert min(row[1] for row in confusion.counts) > 0


@pytest.mark.parametrize("words", ["model=linreg", "model=mlp data=diabetes", "model=gan data=mixture"])
def test_there_is_none_of_what_chooses_no_classes(words: str, cli: Callable, tmp_path: Path) -> None:
    ended = cli(*words.split(), "train.steps=1", "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    assert "confusion" not in ended.out
    assert not [*(tmp_path / "run").glob("confusion*")]


def test_the_text_is_read_as_it_was_written() -> None:
    assert PETS.text() == 'class,cat,"a,b",dog\ncat,5,0,0\n"a,b",1,8,1\ndog,0,0,0\n'
    assert Confusion.of_text(PETS.text()) == PETS


@pytest.mark.parametrize("text", ["", "class,a\n", "class,a\na\n", "class,a\na,x\n", "class,a\nb,1\n", "class,a\na,\0\n"])
def test_other_text_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        Confusion.of_text(text)


def test_colours_are_as_deep_as_the_shares() -> None:
    assert PETS.depths() == [[1.0, 0.0, 0.0], [0.5, 0.8, 0.5], [0.0, 0.0, 0.0]], "a tenth is half of what is many"
    assert Confusion(("a", "b"), ((1, 3), (0, 2))).depths() == [[0.25, 1.0], [0.0, 1.0]]
    assert Confusion(("a",), ((4,),)).depths() == [[1.0]]


def test_the_picture_has_the_colours_of_right_and_wrong(tmp_path: Path) -> None:
    from PIL import Image

    draw_confusion(tmp_path / "confusion.png", "Pets", PETS)
    with Image.open(tmp_path / "confusion.png") as picture:
        colours = {colour for count, colour in picture.convert("RGB").getcolors(1 << 20) if count > 900}
    assert sum(blue > red + 20 for red, _, blue in colours) == 2, "cats more than the others"
    assert sum(red > blue + 20 for red, _, blue in colours) == 1
