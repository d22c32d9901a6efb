"""What an iterator or a cache keeps, as bytes, and back: plain data (see `ops.dataset`) with arrays in it.

JSON, whose arrays are stored behind it in NumPy's own format. Nothing that could run code is read from it.
"""

from __future__ import annotations

import base64
import io
import json
import struct
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.errors import DataLossError, UnimplementedError
from tfexp.ops.dataset import Elements, State

_VERSION = 1
_LENGTHS = struct.Struct("<IQ")


def encode(state: State) -> bytes:
    """A position as bytes."""
    arrays: list[bytes] = []
    text = json.dumps(_plain(state, arrays)).encode()
    blob = b"".join(struct.pack("<Q", len(array)) + array for array in arrays)
    return _LENGTHS.pack(_VERSION, len(text)) + text + blob


def decode(data: bytes, name: str) -> State:
    """The position that `encode` wrote; DataLossError, naming the iterator, for anything else."""
    try:
        version, length = _LENGTHS.unpack_from(data)
        if version != _VERSION:
            raise ValueError(f"its version is {version}, not {_VERSION}")
        position = _LENGTHS.size + length
        text = data[_LENGTHS.size : position]
        arrays = []
        while position < len(data):
            (size,) = struct.unpack_from("<Q", data, position)
            arrays.append(np.load(io.BytesIO(data[position + 8 : position + 8 + size]), allow_pickle=False))
            position += 8 + size
        return _restored(json.loads(text), arrays)
    except (ValueError, KeyError, IndexError, struct.error, EOFError) as error:
        raise DataLossError(None, None, f"What is stored for the iterator {name!r} is no position of one: {error}") from None


def _plain(value: Any, arrays: list[bytes]) -> Any:
    if value is None or (isinstance(value, (bool, int, float, str)) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, dict):
        return {"dict": [[key, _plain(part, arrays)] for key, part in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_plain(part, arrays) for part in value]
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, Elements):
        return {"elements": [_plain(list(element), arrays) for element in value.elements]}
    array = np.asarray(value)
    if array.dtype == object and array[()] is value:
        raise UnimplementedError(None, None, f"A position with a {type(value).__name__} in it cannot be saved")
    if array.dtype == object and any(not isinstance(item, bytes) for item in array.ravel()):
        return {"objects": [_plain(item, arrays) for item in array.ravel()], "shape": list(array.shape)}
    if array.dtype == object:
        return {"strings": [base64.b64encode(item).decode() for item in array.ravel()], "shape": list(array.shape)}
    dtype = dtypes.as_dtype(array.dtype)
    stored = io.BytesIO()
    # NumPy's format does not know bfloat16 and its like: their bytes are stored.
    np.save(stored, np.ascontiguousarray(array).reshape(-1).view(np.uint8), allow_pickle=False)
    arrays.append(stored.getvalue())
    return {"array": len(arrays) - 1, "dtype": dtype.name, "shape": list(array.shape)}


def _restored(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_restored(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {key: _restored(part, arrays) for key, part in value["dict"]}
    if "bytes" in value:
        return base64.b64decode(value["bytes"])
    if "objects" in value:
        array = np.empty(len(value["objects"]), object)
        for i, item in enumerate(value["objects"]):
            array[i] = _restored(item, arrays)
        return array.reshape(value["shape"])
    if "elements" in value:
        return Elements([_restored(element, arrays) for element in value["elements"]])
    if "strings" in value:
        array = np.empty(len(value["strings"]), object)
        array[:] = [base64.b64decode(item) for item in value["strings"]]
        return array.reshape(value["shape"])
    dtype = np.dtype(dtypes.as_dtype(value["dtype"]).as_numpy_dtype)
    return arrays[value["array"]].view(dtype).reshape(value["shape"])
