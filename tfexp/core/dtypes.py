"""TensorFlow's element types (`tf.DType`) and their NumPy counterparts.

Strings are object arrays of `bytes`; bfloat16 is `ml_dtypes.bfloat16`, and that package is loaded when somebody asks for
it; the quantized types are plain integers that only the dtype tells apart. A reference dtype (`float32_ref`, enum + 100) is
the type of a variable's own output.
"""

from __future__ import annotations

from builtins import bool as _bool
from typing import Any

import numpy as np
from tensorboard.compat.proto import types_pb2

__all__ = [
    "QUANTIZED_DTYPES",
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "qint8",
    "qint16",
    "qint32",
    "quint8",
    "quint16",
    "resource",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]

_REF_OFFSET = 100


class DType:
    """An element type; instances are interned, so `is` and `==` agree. See `tf.DType`."""

    __slots__ = ("_enum", "_hash", "_is_ref_dtype", "_kind", "_name", "_numpy")
    _by_enum: dict[int, DType] = {}

    _enum: int
    _name: str
    _numpy: type
    _kind: str
    _hash: int
    _is_ref_dtype: _bool

    def __new__(cls, type_enum: int) -> DType:
        try:
            return cls._by_enum[int(type_enum)]
        except KeyError:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {type_enum}") from None

    @classmethod
    def _define(cls, enum: int, name: str, numpy_type: type | None, kind: str) -> DType:
        self = object.__new__(cls)
        self._enum, self._name, self._kind = enum, name, kind
        if numpy_type is not None:
            self._numpy = numpy_type
        self._hash = hash(enum)
        self._is_ref_dtype = enum > _REF_OFFSET
        cls._by_enum[enum] = self
        return self

    def __getattr__(self, name: str) -> Any:
        """bfloat16's `_numpy`, which is there from the first time on: the package costs a tenth of all that tfexp loads."""
        if name != "_numpy":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        import ml_dtypes

        self._numpy = ml_dtypes.bfloat16
        return self._numpy

    @property
    def name(self) -> str:
        """`float32`, or `float32_ref` for a reference type."""
        return self._name

    @property
    def as_numpy_dtype(self) -> type:
        """The NumPy scalar type of an element (`np.float32`; `object` for strings, resources and variants)."""
        return self._numpy

    @property
    def as_datatype_enum(self) -> int:
        """The `types_pb2.DataType` number."""
        return self._enum

    @property
    def _proto_name(self) -> str:
        """`float`, `int32_ref`: the type as protos and TensorFlow's messages have it."""
        return types_pb2.DataType.Name(self._enum).removeprefix("DT_").lower()

    @property
    def base_dtype(self) -> DType:
        """The type without reference."""
        return self._by_enum[self._enum - _REF_OFFSET] if self._is_ref_dtype else self

    @property
    def _as_ref(self) -> DType:
        return self if self._is_ref_dtype else self._by_enum[self._enum + _REF_OFFSET]

    @property
    def real_dtype(self) -> DType:
        """float32 for complex64, float64 for complex128, else the type itself."""
        base = self.base_dtype
        if base is complex64:
            return float32
        return float64 if base is complex128 else self

    @property
    def is_numpy_compatible(self) -> _bool:
        return self._kind not in "rv"

    @property
    def is_bool(self) -> _bool:
        return self._kind == "b"

    @property
    def is_integer(self) -> _bool:
        """A non-quantized integer type."""
        return self._kind in "iu"

    @property
    def is_unsigned(self) -> _bool:
        return self._kind == "u"

    @property
    def is_floating(self) -> _bool:
        return self._kind == "f"

    @property
    def is_complex(self) -> _bool:
        return self._kind == "c"

    @property
    def is_quantized(self) -> _bool:
        return self._kind == "q"

    @property
    def min(self) -> Any:
        """The smallest representable value; TypeError where the type has none."""
        return self._limit("min")

    @property
    def max(self) -> Any:
        """The largest representable value; TypeError where the type has none."""
        return self._limit("max")

    def _limit(self, which: str) -> Any:
        if self._kind == "b":
            return which == "max"
        if self._kind == "f":
            import ml_dtypes  # its `finfo` knows NumPy's types too

            return getattr(ml_dtypes.finfo(self._numpy), which)
        if self._kind in "iuq":
            return getattr(np.iinfo(self._numpy), which)
        raise TypeError(f"Cannot find {which}imum value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The (0, max) that image code clips to, max being 1 for floating types."""
        return (0, 1) if self._kind == "f" else (0, self.max)

    @property
    def size(self) -> int:
        """Bytes per element (1 for types whose elements are Python objects, as in TensorFlow)."""
        return 1 if self._numpy is object else int(np.dtype(self._numpy).itemsize)

    def is_compatible_with(self, other: Any) -> _bool:
        """True when a tensor of `other` may be used where this type is wanted."""
        other = as_dtype(other)
        return self._enum in (other.as_datatype_enum, other.base_dtype.as_datatype_enum)

    def __eq__(self, other: object) -> _bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"tf.{self._name}"

    def __str__(self) -> str:
        return f"<dtype: {self._name!r}>"

    def __int__(self) -> int:
        return self._enum

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self._name,)


_TABLE: list[tuple[str, type | None, str]] = [
    ("float32", np.float32, "f"),
    ("float64", np.float64, "f"),
    ("int32", np.int32, "i"),
    ("uint8", np.uint8, "u"),
    ("int16", np.int16, "i"),
    ("int8", np.int8, "i"),
    ("string", object, "s"),
    ("complex64", np.complex64, "c"),
    ("int64", np.int64, "i"),
    ("bool", np.bool_, "b"),
    ("qint8", np.int8, "q"),
    ("quint8", np.uint8, "q"),
    ("qint32", np.int32, "q"),
    ("bfloat16", None, "f"),
    ("qint16", np.int16, "q"),
    ("quint16", np.uint16, "q"),
    ("uint16", np.uint16, "u"),
    ("complex128", np.complex128, "c"),
    ("float16", np.float16, "f"),
    ("resource", object, "r"),
    ("variant", object, "v"),
    ("uint32", np.uint32, "u"),
    ("uint64", np.uint64, "u"),
]
_ENUM_NAMES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
_ALIASES = {"half": "float16", "float": "float32", "double": "float64"}

_BY_NAME: dict[str, DType] = {}
for _name, _numpy_type, _kind in _TABLE:
    _enum = types_pb2.DataType.Value("DT_" + _ENUM_NAMES.get(_name, _name.upper()))
    _BY_NAME[_name] = DType._define(_enum, _name, _numpy_type, _kind)
    _BY_NAME[_name + "_ref"] = DType._define(_enum + _REF_OFFSET, _name + "_ref", _numpy_type, _kind)
for _alias, _name in _ALIASES.items():
    _BY_NAME[_alias], _BY_NAME[_alias + "_ref"] = _BY_NAME[_name], _BY_NAME[_name + "_ref"]

float32 = _BY_NAME["float32"]
float64 = double = _BY_NAME["float64"]
float16 = half = _BY_NAME["float16"]
bfloat16 = _BY_NAME["bfloat16"]
int8 = _BY_NAME["int8"]
int16 = _BY_NAME["int16"]
int32 = _BY_NAME["int32"]
int64 = _BY_NAME["int64"]
uint8 = _BY_NAME["uint8"]
uint16 = _BY_NAME["uint16"]
uint32 = _BY_NAME["uint32"]
uint64 = _BY_NAME["uint64"]
complex64 = _BY_NAME["complex64"]
complex128 = _BY_NAME["complex128"]
bool = _BY_NAME["bool"]
string = _BY_NAME["string"]
resource = _BY_NAME["resource"]
variant = _BY_NAME["variant"]
qint8 = _BY_NAME["qint8"]
quint8 = _BY_NAME["quint8"]
qint16 = _BY_NAME["qint16"]
quint16 = _BY_NAME["quint16"]
qint32 = _BY_NAME["qint32"]
QUANTIZED_DTYPES = frozenset(d for d in DType._by_enum.values() if d.is_quantized)

_PYTHON_TYPES: dict[type, DType] = {float: float32, _bool: bool, object: string}
_BY_NUMPY: dict[np.dtype[Any], DType] = {
    np.dtype(numpy_type): _BY_NAME[name] for name, numpy_type, kind in reversed(_TABLE) if numpy_type and kind not in "qsrv"
}


def as_dtype(type_value: Any) -> DType:
    """The DType of a DType, an enum number, a name (`"float"`, `"float32_ref"`), a NumPy type, `float`, `bool` or `object`.

    Raises TypeError for anything else, `int` too. Source: `tf.as_dtype`.
    """
    if isinstance(type_value, DType):
        return type_value
    if isinstance(type_value, str) and type_value in _BY_NAME:
        return _BY_NAME[type_value]
    if isinstance(type_value, (int, np.integer)) and type_value in DType._by_enum:
        return DType._by_enum[int(type_value)]
    if isinstance(type_value, type) and type_value in _PYTHON_TYPES:
        return _PYTHON_TYPES[type_value]
    if isinstance(type_value, np.dtype) or (isinstance(type_value, type) and issubclass(type_value, np.generic)):
        try:
            numpy_dtype = np.dtype(type_value)
        except TypeError:
            pass  # an abstract type (`np.number`): reported below, in TensorFlow's words
        else:
            if numpy_dtype in _BY_NUMPY:
                return _BY_NUMPY[numpy_dtype]
            if numpy_dtype.name == "bfloat16":
                return bfloat16
            if numpy_dtype.kind in "OSU":
                return string
            if not numpy_dtype.isnative:
                return as_dtype(numpy_dtype.newbyteorder("="))
    raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.")


def type_text(dtype: DType) -> str:
    """`float`, `double`, `int32`: how TensorFlow's run-time errors write a dtype."""
    return _ENUM_NAMES.get(dtype.name, dtype.name).lower()
