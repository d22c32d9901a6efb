"""What Keras's layers take for granted: the float type, the fuzz factor, the order of an image's axes.

Read at import from `keras.json` in $KERAS_HOME or `~/.keras`, where there is one; no file is ever written.
Source: `tf.keras.backend.floatx` and its siblings, TF 1.15.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.variable_base import Variable

_FLOAT_TYPES = ("float16", "float32", "float64")
_IMAGE_FORMATS = ("channels_last", "channels_first")

_floatx = "float32"
_epsilon = 1e-7
_image_data_format = "channels_last"


def keras_home() -> Path:
    """The folder with `keras.json` and what `tf.keras.utils.get_file` has fetched: $KERAS_HOME, or `~/.keras`."""
    home = os.environ.get("KERAS_HOME")
    return Path(home) if home else Path.home() / ".keras"


def floatx() -> str:
    """The float type of new weights and constants, by name."""
    return _floatx


def set_floatx(value: str) -> None:
    """Take `value` for new weights. ValueError unless it is 'float16', 'float32' or 'float64'."""
    global _floatx
    if value not in _FLOAT_TYPES:
        raise ValueError(f"Unknown floatx type: {value}. Expected one of {_FLOAT_TYPES}")
    _floatx = str(value)


def epsilon() -> float:
    """What keeps divisors and arguments of logarithms away from zero."""
    return _epsilon


def set_epsilon(value: float) -> None:
    """Take another fuzz factor from here on."""
    global _epsilon
    _epsilon = value


def image_data_format() -> str:
    """'channels_last' or 'channels_first': what layers assume that are not told."""
    return _image_data_format


def set_image_data_format(data_format: str) -> None:
    """Assume another order. ValueError for an unknown one."""
    global _image_data_format
    if data_format not in _IMAGE_FORMATS:
        raise ValueError(f"Unknown data_format: {data_format}. Expected one of {_IMAGE_FORMATS}")
    _image_data_format = str(data_format)


def known_data_format(data_format: str | None) -> str:
    """`data_format`, or the configured one for None. ValueError for an unknown one."""
    if data_format is None:
        return _image_data_format
    if data_format not in _IMAGE_FORMATS:
        raise ValueError(f"Unknown data_format: {data_format}")
    return data_format


def backend() -> str:
    """'tensorflow': the one that there is. Source: `tf.keras.backend.backend`."""
    return "tensorflow"


def cast_to_floatx(x: Any) -> Any:
    """`x` as a NumPy array of the configured float type; tensors and variables become tensors."""
    if isinstance(x, (Tensor, Variable, SparseTensor)):
        return cast(x, _floatx)
    return np.asarray(x, dtype=_floatx)


def _read_file() -> None:
    """Take what `keras.json` says. A file that is no JSON is an error that names it; unknown keys are for others."""
    path = keras_home() / "keras.json"
    if not path.is_file():
        return
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not JSON: {error}") from None
    set_floatx(settings.get("floatx", _floatx))
    set_epsilon(float(settings.get("epsilon", _epsilon)))
    set_image_data_format(settings.get("image_data_format", _image_data_format))


_read_file()
