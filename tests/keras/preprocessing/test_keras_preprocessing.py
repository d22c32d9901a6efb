"""`tf.keras.preprocessing` answers as TensorFlow does; see `preprocessing_cases.py`."""

import gzip
import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.keras.preprocessing.preprocessing_cases import CASES, images, plain, write_images
from tfexp.api.keras.preprocessing import image, sequence, text

RECORDED = json.loads(gzip.decompress(Path(__file__).with_name("preprocessing.json.gz").read_bytes()))
PREPROCESSING = SimpleNamespace(image=image, sequence=sequence, text=text)


def assert_same(mine: object, wanted: object, at: str) -> None:
    """Numbers agree to what a PNG's or a float32's rounding leaves."""
    if isinstance(wanted, list):
        assert isinstance(mine, list) and len(mine) == len(wanted), f"{at}: {mine} != {wanted}"
        for i, (one, other) in enumerate(zip(mine, wanted, strict=True)):
            assert_same(one, other, f"{at}[{i}]")
    elif isinstance(wanted, dict):
        assert isinstance(mine, dict) and list(mine) == list(wanted), f"{at}: {mine} != {wanted}"
        for key in wanted:
            assert_same(mine[key], wanted[key], f"{at}[{key!r}]")
    elif isinstance(wanted, float):
        assert mine == pytest.approx(wanted, rel=1e-4, abs=1e-3), at
    else:
        assert mine == wanted, f"{at}: {mine} != {wanted}"


@pytest.mark.parametrize("name", CASES)
def test_answers_are_tensorflows(name: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # generators warn of settings that others replace
        assert_same(json.loads(json.dumps(plain(CASES[name](PREPROCESSING, tmp_path)))), RECORDED[name], name)


def test_saved_images_are_those_handed_out(tmp_path: Path) -> None:
    flow = image.ImageDataGenerator(horizontal_flip=True).flow(
        images(3), batch_size=3, save_to_dir=tmp_path, save_prefix="a"
    )
    batch = next(flow)
    files = sorted(tmp_path.glob("a_*.png"))
    assert len(files) == 3
    pictures = [image.img_to_array(image.load_img(file)) for file in files]
    order = [int(file.name.split("_")[1]) for file in files]
    handed_out = {int(index): picture for index, picture in zip(flow.index_array, batch, strict=True)}
    for index, picture in zip(order, pictures, strict=True):
        stretched = handed_out[index] - handed_out[index].min()
        np.testing.assert_allclose(picture, np.floor(stretched / stretched.max() * 255), atol=1)


def test_files_named_in_a_table(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    write_images(tmp_path)
    names = ["cats/p0.png", "dogs/p0.png", "dogs/note.txt", "dogs/p2.png"]
    rows = {"filename": names, "class": ["c", "d", "d", "d"], "size": [1.0, 2.0, 3.0, 4.0]}
    table = pandas.DataFrame(rows)
    generator = image.ImageDataGenerator()
    settings = {"target_size": (2, 3), "shuffle": False, "batch_size": 2}
    with pytest.warns(UserWarning, match="Found 1 invalid image filename"):
        flow = generator.flow_from_dataframe(table, tmp_path, weight_col="size", **settings)
    x, y, weights = next(flow)
    assert x.shape == (2, 2, 3, 3)
    assert (y.tolist(), weights.tolist(), flow.class_indices) == ([[1, 0], [0, 1]], [1, 2], {"c": 0, "d": 1})
    kept = table[table["filename"].str.endswith("png")]
    for class_mode, y_col, wanted in (
        ("binary", "class", [0, 1]),
        ("raw", "size", [1, 2]),
        ("sparse", "class", [0, 1]),
    ):
        flow = generator.flow_from_dataframe(kept, tmp_path, y_col=y_col, class_mode=class_mode, **settings)
        assert next(flow)[1].tolist() == wanted
    both = generator.flow_from_dataframe(kept, tmp_path, y_col=["size", "class"], class_mode="multi_output", **settings)
    assert [list(output) for output in next(both)[1]] == [[1, 2], ["c", "d"]]
    only = generator.flow_from_dataframe(kept, tmp_path, classes=["d"], class_mode="sparse", **settings)
    assert only.filenames == ["dogs/p0.png", "dogs/p2.png"]
    with pytest.raises(TypeError, match="must be strings"):
        generator.flow_from_dataframe(kept, tmp_path, y_col="size", class_mode="binary")


@pytest.mark.parametrize("method", ["__getitem__", "__len__"])
def test_a_sequence_of_batches_needs_both_methods(method: str) -> None:
    from tfexp.keras.utils.data import Sequence

    with pytest.raises(NotImplementedError):
        getattr(Sequence(), method)(*([0] if method == "__getitem__" else []))


def test_without_scipy_an_image_is_not_turned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(ImportError, match="pip install scipy"):
        image.apply_affine_transform(np.ones((2, 2, 1)), theta=5)
