"""The values that `record_formats` gives to TensorFlow and the tests of `tfexp.formats` give to tfexp."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FORMATS = Path(__file__).parent / "formats"

# name: (values, dtype's name or None, shape or None) for make_tensor_proto
TENSOR_PROTOS: dict[str, tuple[Any, str | None, Any]] = {
    "int": (1, None, None),
    "float": (1.1, None, None),
    "bool": (True, None, None),
    "str": ("é", None, None),
    "bytes with zero": (b"a\0", None, None),
    "complex": (1j, None, None),
    "int beyond int32": (-3000000000, None, None),
    "int beyond int64": (1 << 63, None, None),
    "float beyond float32": (float("inf"), None, None),
    "nan": (float("nan"), None, None),
    "negative zero": (-0.0, None, None),
    "ints": ([1, 2, 3], None, None),
    "int matrix": ([[1, 2], [3, 4], [5, 6]], None, None),
    "ints and floats": ([1, 2.5], None, None),
    "bool and int": ([True, 2], None, None),
    "bools": ([True, False], None, None),
    "wide ints": ([3000000000, 1], None, None),
    "numbers of mixed signs beyond int64": ([1 << 63, -1], None, None),
    "complexes": ([1 + 2j, 1], None, None),
    "strings": ([["a", "bc"], ["d\0", ""]], None, None),
    "nothing": ([], None, None),
    "nothing in rows": ([[], []], None, None),
    "no strings": ([], "string", None),
    "no bools": ([[]], "bool", None),
    "tuple": ((1.0, 2.0), None, None),
    "numpy scalars in a list": ([np.float64(1), np.float64(2)], None, None),
    "int64 scalars in a list": ([np.int64(1), 2], None, None),
    "int as float32": (1, "float32", None),
    "int as float64": (1, "float64", None),
    "int as complex64": (1, "complex64", None),
    "int as float16": (1, "float16", None),
    "bool as int": (True, "int32", None),
    "bool as float": (True, "float32", None),
    "huge int as float": (10**20, "float32", None),
    "int that wraps in int32": (3000000000, "int32", None),
    "ints that wrap in int8": ([300, 1], "int8", None),
    "negative as uint8": (-1, "uint8", None),
    "negative as uint32": (-1, "uint32", None),
    "negative as uint64": (-1, "uint64", None),
    "uint64": (1 << 63, "uint64", None),
    "float16": (1.5, "float16", None),
    "float16s": ([1.5, 2.5, 3.5], "float16", None),
    "bfloat16": (1.5, "bfloat16", None),
    "bfloat16s": ([1.5, 2.5, 3.5], "bfloat16", None),
    "int16": (-7, "int16", None),
    "complex64s": ([1j, 2], "complex64", None),
    "int64 array": (np.arange(3), None, None),
    "float64 array": (np.array([1.0, 2.5]), None, None),
    "float64 array as float32": (np.array([1.0, 2.5]), "float32", None),
    "float64 array as int32": (np.array([1.9, -2.5]), "int32", None),
    "array of one": (np.array([1.5]), None, None),
    "float32 scalar": (np.float32(1.5), None, None),
    "float64 scalar": (np.float64(1.5), None, None),
    "float64 scalar as bool": (np.float64(1.5), "bool", None),
    "int8 scalar": (np.int8(-3), None, None),
    "bool scalar": (np.bool_(True), None, None),
    "float16 array": (np.array([1.5, 2.5], np.float16), None, None),
    "bfloat16 array": (np.array([1.5, 2.5], ml_dtypes.bfloat16), None, None),
    "bfloat16 array of rank 0": (np.array(1.5, ml_dtypes.bfloat16), None, None),
    "complex128 array": (np.array([1 + 2j, 3]), None, None),
    "complex64 of rank 0": (np.array(1 + 2j, np.complex64), None, None),
    "uint32 array": (np.array([1, 2], np.uint32), None, None),
    "uint16 array of one": (np.array([1], np.uint16), None, None),
    "uint64 of rank 0": (np.array(1 << 63, np.uint64), None, None),
    "bool array": (np.array([True, False]), None, None),
    "text array": (np.array(["a", "bc"]), None, None),
    "bytes array": (np.array([b"a", b"bc"]), None, None),
    "object array": (np.array(["a", b"bc\0"], object), None, None),
    "object array as int32": (np.array([1, 2], object), "int32", None),
    "empty array": (np.zeros((0, 3)), None, None),
    "transposed array": (np.arange(6).reshape(2, 3).T, None, None),
    "int filled": (1, None, [3]),
    "float filled": (1.0, None, [2, 3]),
    "string filled": ("a", None, [3]),
    "zero filled": (0.0, None, [2, 3]),
    "last repeated": ([1, 2], None, [4]),
    "last string repeated": (["a", "b"], None, [5]),
    "reshaped": ([1, 2, 3, 4, 5, 6], None, [3, 2]),
    "array filled": (np.array([1, 2, 3, 4]), None, [5]),
    "array reshaped": (np.arange(6, dtype=np.int32), None, (2, 3)),
    "to rank 0": ([[1]], None, []),
    "shape without elements": ([1, 2, 3], None, [0]),
    "nothing filled": ([], None, [3]),
    "float32 without elements": ([], "float32", [0, 3]),
    "reshaped int64": ([[1, 2], [3, 4]], "int64", [4]),
}


def _counted(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    return (np.arange(int(np.prod(shape))).reshape(shape) - 2).astype(dtype)


# What one bundle holds, in the order in which it is written.
MIX: dict[str, np.ndarray[Any, Any]] = {
    "w/float32": _counted((2, 3), np.float32),
    "b/float64": _counted((5,), np.float64),
    "global_step": np.array(1234567890123, np.int64),
    "scalar": np.array(-0.5, np.float32),
    "empty": np.zeros((0, 7), np.float32),
    "int32": _counted((3, 1, 2), np.int32),
    "bfloat16": _counted((5,), ml_dtypes.bfloat16),
    "float16": _counted((2, 2), np.float16),
    "bool": np.array([True, False, True], np.bool_),
    "complex64": _counted((3,), np.complex64) * np.complex64(1j),
    "names/é": np.array([["a", "é\0"], ["", "x" * 200]], object),
    "one string": np.array("s", object),
    "w/uint8": _counted((3,), np.uint8),
}
for _strings in (MIX["names/é"], MIX["one string"]):
    _strings[...] = np.vectorize(str.encode, otypes=[object])(_strings)

# tensor: (shape, [(slice, its elements)])
PARTITIONED: dict[str, tuple[tuple[int, ...], list[str]]] = {
    "rows": ((7, 5), ["0,3:0,5", "3,2:0,5", "5,2:0,5"]),
    "columns": ((3, 300), ["0,3:0,150", "0,3:150,150"]),
    "blocks": ((2, 9000), ["0,1:-", "1,1:0,8999", "1,1:8999,1"]),
}
PARTITIONED_VALUES: dict[str, np.ndarray[Any, Any]] = {
    name: _counted(shape, np.int8 if name == "blocks" else np.float32) for name, (shape, _) in PARTITIONED.items()
}
BESIDE_PARTITIONED = _counted((11,), np.int32)

# The shards of one checkpoint: a partitioned tensor is spread over both.
SHARDS: list[dict[str, np.ndarray[Any, Any]]] = [
    {"a": _counted((2, 3), np.float32), "z": _counted((5,), np.int64)},
    {"m": _counted((7,), np.float64)},
]
SHARD_SLICES = ["0,4:0,3", "4,3:0,3"]
SHARDED_SHAPE = (7, 3)
SHARDED_VALUES = _counted(SHARDED_SHAPE, np.float32)

# An index of several blocks, of which only the digest is kept.
MANY = 12_000


def many_name(i: int) -> str:
    """The name of the i-th of `MANY` tensors."""
    return f"layer_{i * 7919 % MANY:05d}/kernel"


RECORDS = [b"", b"first", bytes(range(256)) * 5, "é".encode(), b"last"]

# (step, tag, value)
EVENTS = [(1, "loss", 0.5), (2, "loss", 0.25), (3, "accuracy", 1.0)]
