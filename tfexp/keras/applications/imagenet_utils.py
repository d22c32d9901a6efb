"""Images as the networks were fed with them, and predictions by the names of ImageNet's classes.

Source: `tf.keras.applications.imagenet_utils`, TF 1.15.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from tfexp.graph.convert import constant
from tfexp.keras import backend
from tfexp.keras.utils.files import get_file
from tfexp.ops.array_order import reverse
from tfexp.ops.cast import cast

_INDEX = "https://storage.googleapis.com/download.tensorflow.org/data/imagenet_class_index.json"
_INDEX_MD5 = "c2c37ea517e94d9795004a39431a14cb"

# Of ImageNet's channels, red first: in 0 to 255 for `caffe`, in 0 to 1 for `torch`.
_MEANS = {"caffe": (123.68, 116.779, 103.939), "torch": (0.485, 0.456, 0.406)}
_DEVIATIONS = (0.229, 0.224, 0.225)


def preprocess_input(x: Any, data_format: str | None = None, mode: str = "caffe") -> Any:
    """Images, or one, with channels red, green, blue from 0 to 255, as a network takes them: an array, or a tensor.

    mode: `caffe` turns the channels round (blue first) and subtracts their means; `tf` scales to -1 … 1; `torch` scales to
    0 … 1, subtracts the means and divides by the deviations. ValueError for another mode or `data_format`.
    """
    if mode not in ("caffe", "tf", "torch"):
        raise ValueError(f"Expected mode to be one of `caffe`, `tf` or `torch`. Received: mode={mode}")
    data_format = backend.image_data_format() if data_format is None else data_format
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Expected data_format to be one of `channels_first` or `channels_last`. Received: {data_format}")
    is_array = isinstance(x, np.ndarray)
    if is_array:
        x = x if issubclass(x.dtype.type, np.floating) else x.astype(backend.floatx())
    elif not x.dtype.is_floating:
        x = cast(x, backend.floatx())
    if mode == "tf":
        return x / 127.5 - 1.0
    rank = x.ndim if is_array else x.get_shape().rank
    axis = rank - 1 if data_format == "channels_last" else rank - 3

    def by_channel(values: Any) -> Any:
        shaped = np.reshape(values, [-1] + [1] * (rank - 1 - axis))
        return shaped.astype(x.dtype) if is_array else constant(shaped, dtype=x.dtype)

    if mode == "torch":
        return (x / 255.0 - by_channel(_MEANS["torch"])) / by_channel(_DEVIATIONS)
    turned = np.flip(x, axis) if is_array else reverse(x, [axis])
    return turned - by_channel(_MEANS["caffe"][::-1])


def preprocessing(mode: str) -> Callable[..., Any]:
    """A network's own `preprocess_input(x, data_format=None)`."""

    def preprocess(x: Any, data_format: str | None = None) -> Any:
        return preprocess_input(x, data_format, mode=mode)

    preprocess.__name__ = preprocess.__qualname__ = "preprocess_input"
    preprocess.__doc__ = f"Images as this network takes them: `imagenet_utils.preprocess_input` with mode `{mode}`."
    return preprocess


@lru_cache(maxsize=1)
def _class_index() -> dict[str, list[str]]:
    path = get_file("imagenet_class_index.json", _INDEX, cache_subdir="models", file_hash=_INDEX_MD5)
    with open(path, encoding="utf-8") as file:
        index: dict[str, list[str]] = json.load(file)
    return index


def decode_predictions(preds: Any, top: int = 5) -> list[list[tuple[str, str, float]]]:
    """Of each of a batch [batch, 1000] of predictions the `top` likeliest classes: (WordNet's id, name, probability).

    ValueError for another shape. The classes' names are fetched the first time.
    """
    if len(preds.shape) != 2 or preds.shape[1] != 1000:
        raise ValueError(
            "`decode_predictions` expects a batch of predictions (i.e. a 2D array of shape (samples, 1000)). "
            f"Received array with shape: {preds.shape}"
        )
    index = _class_index()
    return [[(*index[str(i)], one[i]) for i in np.argsort(one)[::-1][:top]] for one in preds]  # type: ignore[misc]
