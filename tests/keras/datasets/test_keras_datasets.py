"""`tf.keras.datasets` on small files of the published form: as TensorFlow reads them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.keras.datasets.dataset_cases import answers, write_files
from tfexp.api.keras import backend, datasets
from tfexp.keras.datasets import boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters, words

RECORDED = json.loads(Path(__file__).with_name("datasets.json").read_text())


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The published files' hashes are not those of ours: `get_file` only finds them."""
    write_files(tmp_path)
    for module in (boston_housing, cifar10, cifar100, fashion_mnist, imdb, mnist, reuters, words):
        monkeypatch.setattr(module, "get_file", lambda name, **_: str(tmp_path / name))
    return tmp_path


def test_texts_and_tables_are_as_tensorflow_reads_them() -> None:
    mine = json.loads(json.dumps(answers(datasets)))
    for name, wanted in RECORDED.items():
        assert mine[name] == wanted, name


def test_images_of_digits_and_clothes() -> None:
    for module in (datasets.mnist, datasets.fashion_mnist):
        (x, y), (x_test, y_test) = module.load_data()
        assert x.shape == (5, 28, 28) and x.dtype == np.uint8
        np.testing.assert_array_equal(x[:2], x_test)
        assert (y.tolist(), y_test.tolist()) == ([0, 1, 2, 3, 4], [0, 1])
    np.testing.assert_array_equal(datasets.mnist.load_data()[0][0], datasets.fashion_mnist.load_data()[0][0])


@pytest.fixture
def channels_first() -> Any:
    backend.set_image_data_format("channels_first")
    yield
    backend.set_image_data_format("channels_last")


def test_photographs() -> None:
    (x, y), (x_test, y_test) = datasets.cifar10.load_data()
    assert x.shape == (10, 32, 32, 3) and y[:, 0].tolist() == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert x_test.shape == (2, 32, 32, 3) and y_test.tolist() == [[5], [6]]
    assert datasets.cifar100.load_data()[0][1].tolist() == [[0], [1]]
    assert datasets.cifar100.load_data("coarse")[1][1].tolist() == [[1], [3]]


def test_photographs_with_channels_first(channels_first: None) -> None:
    (first, _), _ = datasets.cifar10.load_data()
    backend.set_image_data_format("channels_last")
    (last, _), _ = datasets.cifar10.load_data()
    np.testing.assert_array_equal(first.transpose(0, 2, 3, 1), last)


def test_unknown_keywords() -> None:
    for module in (datasets.imdb, datasets.reuters):
        with pytest.raises(TypeError, match="Unrecognized keyword arguments"):
            module.load_data(nonsense=1)
        with pytest.warns(UserWarning, match="renamed `num_words`"):
            module.load_data(nb_words=5)
