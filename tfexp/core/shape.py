"""Static shapes: `Dimension` and `TensorShape`, either of which may be (partly) unknown. Source: TF 1.15.

`TensorShape.dims` is None (unknown rank) or a list of Dimension; internally a tuple of `int | None`, which is what
`known_dims` gives to code that does not want Dimension objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from tensorboard.compat.proto import tensor_shape_pb2


class Dimension:
    """One dimension: a whole number >= 0 or None. Arithmetic with None gives None; comparison with None gives None."""

    __slots__ = ("_value",)

    def __init__(self, value: Any):
        if isinstance(value, Dimension):
            self._value: int | None = value._value
        elif value is None:
            self._value = None
        else:
            self._value = _whole(value)
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    @property
    def value(self) -> int | None:
        return self._value

    def is_compatible_with(self, other: Any) -> bool:
        other = as_dimension(other)
        return self._value is None or other._value is None or self._value == other._value

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The more specific of two compatible dimensions; ValueError when they contradict."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return other if self._value is None else self

    def _arithmetic(self, other: Any, compute: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return Dimension(None)
        return Dimension(compute(self._value, other._value))

    def __add__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: a * b)

    def __floordiv__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: a // b)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: b // a)

    def __mod__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: a % b)

    def __rmod__(self, other: Any) -> Any:
        return self._arithmetic(other, lambda a, b: b % a)

    __radd__, __rmul__, __div__ = __add__, __mul__, __floordiv__

    def __truediv__(self, other: Any) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and {type(other).__name__!r}, please use // instead"
        )

    def __rtruediv__(self, other: Any) -> Any:
        raise TypeError(
            f"unsupported operand type(s) for /: {type(other).__name__!r} and 'Dimension', please use // instead"
        )

    def _compare(self, other: Any, compute: Any) -> Any:
        try:
            other = as_dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other._value is None:
            return None
        return compute(self._value, other._value)

    def __eq__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a == b)

    def __ne__(self, other: object) -> Any:
        return self._compare(other, lambda a, b: a != b)

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a < b)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a <= b)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a > b)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, lambda a, b: a >= b)

    def __hash__(self) -> int:
        if self._value is None:
            raise ValueError("Unable to hash Dimension with value 'None'")
        return hash(self._value)

    def __int__(self) -> int:
        return self._value  # type: ignore[return-value]  # int(Dimension(None)) is Python's own TypeError

    def __index__(self) -> int:
        return self._value  # type: ignore[return-value]

    def __bool__(self) -> bool:
        return bool(self._value)

    def __repr__(self) -> str:
        return f"Dimension({self._value})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)


def _whole(value: Any) -> int:
    """An integer, a float without a fraction (4 / 2), or a numeral. ValueError for other floats and texts."""
    if isinstance(value, (float, np.floating)):
        if int(value) != value:
            raise ValueError(f"Ambiguous dimension: {value}")
        return int(value)
    if isinstance(value, (str, bytes)):
        return int(value)
    try:
        whole: int = value.__index__()
    except AttributeError:
        raise TypeError(f"A dimension must be an integer or None, not {value!r}") from None
    return whole


def as_dimension(value: Any) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension(value)


class TensorShape:
    """A static shape. `TensorShape(None)` has unknown rank; `TensorShape([None, 3])` an unknown first dimension."""

    __slots__ = ("_dims",)
    _dims: tuple[int | None, ...] | None

    def __init__(self, dims: Any):
        if dims is None:
            self._dims = None
        elif isinstance(dims, (list, tuple)):
            # The hot path: shape rules hand over plain ints and Nones.
            self._dims = tuple([d if d is None or (type(d) is int and d >= 0) else Dimension(d)._value for d in dims])
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif isinstance(dims, tensor_shape_pb2.TensorShapeProto):
            self._dims = None if dims.unknown_rank else tuple(None if d.size == -1 else int(d.size) for d in dims.dim)
        elif isinstance(dims, (str, bytes)):
            raise TypeError("A string has ambiguous TensorShape, please wrap in a list or convert to an int: " + str(dims))
        elif isinstance(dims, Iterable):
            self._dims = tuple(Dimension(d)._value for d in dims)
        else:
            self._dims = (Dimension(dims)._value,)

    @property
    def known_dims(self) -> tuple[int | None, ...] | None:
        """The dimensions as plain ints and Nones, or None when the rank is unknown."""
        return self._dims

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    @property
    def rank(self) -> int | None:
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self) -> int | None:
        return self.rank

    def __len__(self) -> int:
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Dimension]:
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter([Dimension(d) for d in self._dims])

    def __getitem__(self, key: Any) -> Any:
        if self._dims is not None:
            part = self._dims[key]
            return TensorShape(part) if isinstance(key, slice) else Dimension(part)
        if not isinstance(key, slice):
            return Dimension(None)
        # Of an unknown rank, only a slice with a known end has a known length.
        start, stop = key.start or 0, key.stop
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        if stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def num_elements(self) -> int | None:
        """The product of all dimensions; None unless fully defined."""
        if self._dims is None:
            return None
        total = 1
        for d in self._dims:
            if d is None:
                return None
            total *= d
        return total

    def merge_with(self, other: Any) -> TensorShape:
        """The shape that both allow; ValueError `Shapes … are not compatible` when there is none."""
        other = as_shape(other)
        if self._dims is None or self._dims == other._dims:
            return other
        if other._dims is None:
            return self
        if len(self._dims) != len(other._dims) or not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    __add__ = concatenate

    def __radd__(self, other: Any) -> TensorShape:
        return as_shape(other).concatenate(self)

    def assert_same_rank(self, other: Any) -> None:
        other = as_shape(other)
        if self._dims is not None and other._dims is not None and len(self._dims) != len(other._dims):
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank: int) -> None:
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank: int) -> TensorShape:
        try:
            return self.merge_with(TensorShape([None] * rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank: int) -> TensorShape:
        if self._dims is not None and len(self._dims) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank: int) -> TensorShape:
        if self._dims is not None and len(self._dims) > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other: Any) -> bool:
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        if len(self._dims) != len(other._dims):
            return False
        return all(a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))

    def assert_is_compatible_with(self, other: Any) -> None:
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The most specific shape that both are instances of."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims, strict=True)])

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def assert_is_fully_defined(self) -> None:
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self) -> list[int | None]:
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def as_proto(self) -> tensor_shape_pb2.TensorShapeProto:
        proto = tensor_shape_pb2.TensorShapeProto()
        if self._dims is None:
            proto.unknown_rank = True
        else:
            for d in self._dims:
                proto.dim.add().size = -1 if d is None else d
        return proto

    def __eq__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._dims == other._dims

    def __ne__(self, other: object) -> bool:
        try:
            other = as_shape(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._dims is None or other._dims is None:
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return self._dims != other._dims

    def __hash__(self) -> int:
        return hash(self._dims)

    def __reduce__(self) -> tuple[Any, ...]:
        return TensorShape, (self._dims,)

    def __repr__(self) -> str:
        return f"TensorShape({None if self._dims is None else [Dimension(d) for d in self._dims]})"

    def __str__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        if len(self._dims) == 1:
            return f"({Dimension(self._dims[0])},)"
        return "(" + ", ".join(str(Dimension(d)) for d in self._dims) + ")"


def dims_text(dims: Iterable[int | None]) -> str:
    """`[2,?]`: how TensorFlow's errors write a shape."""
    return "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"


def as_shape(shape: Any) -> TensorShape:
    """`shape` as a TensorShape; see `tf.TensorShape` for what may be given."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def broadcast_shapes(x: TensorShape, y: TensorShape) -> TensorShape:
    """The static shape of a broadcasting op on `x` and `y`; ValueError when they cannot broadcast."""
    a, b = x.known_dims, y.known_dims
    if a is None or b is None:
        return TensorShape(None)
    if len(a) < len(b):
        a = (1,) * (len(b) - len(a)) + a
    elif len(b) < len(a):
        b = (1,) * (len(a) - len(b)) + b
    out: list[int | None] = []
    for d, e in zip(a, b, strict=True):
        if d == e or e == 1:
            out.append(d)
        elif d == 1:
            out.append(e)
        elif d is None or e is None:
            # An unknown dimension against n > 1 can only be 1 or n; against 0, TensorFlow says nothing.
            out.append((e if d is None else d) or None)
        else:
            raise ValueError(f"Dimensions must be equal, but are {d} and {e}: cannot broadcast {x} and {y}")
    return TensorShape(out)


class InputShape(TensorShape):
    """The shape of one input as a shape rule sees it, with its value where that is known before running.

    What there is besides is found when a rule asks for it, by functions of the `source`: such an object is made for each
    input of each node. `value` is the array (None when unknown); `value_as_shape` reads a vector of dimensions, of which
    some may be unknown (-1 counts as unknown), as a TensorShape. Source: the shape functions' `input_tensor` and
    `input_tensors_as_shapes`.
    """

    __slots__ = ("_find_dtype_of_handle", "_find_of_handle", "_find_value", "_find_value_as_shape", "_source")

    def __init__(
        self,
        shape: TensorShape,
        source: Any = None,
        find_value: Callable[[Any], Any] | None = None,
        find_value_as_shape: Callable[[Any], TensorShape] | None = None,
        find_of_handle: Callable[[Any], TensorShape] | None = None,
        find_dtype_of_handle: Callable[[Any], Any] | None = None,
    ):
        self._dims = shape._dims
        self._source = source
        self._find_dtype_of_handle = find_dtype_of_handle
        self._find_of_handle = find_of_handle
        self._find_value = find_value
        self._find_value_as_shape = find_value_as_shape

    @property
    def value(self) -> Any:
        return None if self._find_value is None else self._find_value(self._source)

    @property
    def value_as_shape(self) -> TensorShape:
        find = self._find_value_as_shape
        return TensorShape(None) if find is None else find(self._source)

    @property
    def of_handle(self) -> TensorShape:
        """The shape of the variable whose handle the input is."""
        return TensorShape(None) if self._find_of_handle is None else self._find_of_handle(self._source)

    @property
    def dtype_of_handle(self) -> Any:
        """The DType of the variable whose handle the input is, where it is known; None elsewhere."""
        return None if self._find_dtype_of_handle is None else self._find_dtype_of_handle(self._source)


def dimension_value(dimension: Any) -> int | None:
    """The size that a Dimension, an int or None stands for. `tf.compat.dimension_value`."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The Dimension at `index`, unknown where the rank is. `tf.compat.dimension_at_index`."""
    return Dimension(None) if shape.dims is None else shape.dims[index]
