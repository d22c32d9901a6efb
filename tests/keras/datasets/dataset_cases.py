"""Small files in the form of the published ones, and what is asked of `tf.keras.datasets` about them."""

import gzip
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np

TEXTS: list[dict[str, Any]] = [
    {},
    {"num_words": 8},
    {"num_words": 9, "skip_top": 5, "oov_char": None},
    {"start_char": None, "index_from": 1, "seed": 4},
    {"maxlen": 5},
    {"start_char": None, "index_from": 2, "oov_char": 0, "skip_top": 4},
]


def write_files(folder: Path) -> None:
    generator = np.random.RandomState(8)

    def texts(n: int) -> np.ndarray:
        found = np.empty(n, dtype=object)
        found[:] = [generator.randint(1, 9, generator.randint(2, 7)).tolist() for _ in range(n)]
        return found

    np.savez(folder / "imdb.npz", x_train=texts(7), y_train=np.arange(7) % 2, x_test=texts(4), y_test=np.arange(4) % 2)
    np.savez(folder / "reuters.npz", x=texts(11), y=np.arange(11) % 5)
    np.savez(folder / "boston_housing.npz", x=generator.rand(10, 13), y=generator.rand(10))
    images = generator.randint(0, 256, (5, 28, 28)).astype("uint8")
    np.savez(folder / "mnist.npz", x_train=images, y_train=np.arange(5), x_test=images[:2], y_test=np.arange(2))
    for name in ("imdb", "reuters"):
        (folder / f"{name}_word_index.json").write_text(json.dumps({"the": 1, "a": 2}))
    for prefix, n in (("train", 5), ("t10k", 2)):
        (folder / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + bytes(range(n))))
        (folder / f"{prefix}-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + images[:n].tobytes()))
    for archive, names, keys in (
        ("cifar-10-batches-py", [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"], ["labels"]),
        ("cifar-100-python", ["train", "test"], ["fine_labels", "coarse_labels"]),
    ):
        (folder / archive).mkdir()
        for number, name in enumerate(names):
            batch: dict[bytes, Any] = {b"data": generator.randint(0, 256, (2, 3072)).astype("uint8")}
            batch |= {key.encode(): [number, number + place] for place, key in enumerate(keys, 1)}
            (folder / archive / name).write_bytes(pickle.dumps(batch, protocol=2))


def answers(datasets: Any) -> dict[str, Any]:
    """What JSON can hold of what the files are as data sets."""

    def plain(splits: Any) -> Any:
        return [[np.asarray(part).tolist() for part in split] for split in splits]

    def error(call: Any) -> str:
        try:
            call()
        except ValueError as found:
            return type(found).__name__
        return ""

    return {
        "imdb": [plain(datasets.imdb.load_data(**settings)) for settings in TEXTS],
        "reuters": [plain(datasets.reuters.load_data(**settings)) for settings in (*TEXTS, {"test_split": 0.5})],
        "boston": [
            plain(datasets.boston_housing.load_data(**settings)) for settings in ({}, {"test_split": 0.3, "seed": 5})
        ],
        "index": [datasets.imdb.get_word_index(), datasets.reuters.get_word_index()],
        "errors": [error(lambda: datasets.imdb.load_data(maxlen=2)), error(lambda: datasets.cifar100.load_data("x"))],
    }
