"""What a kernel does to each element, taken down by running it once on stand-ins for arrays.

The kernels are those that XLA compiles: pure array code, by which they say themselves what a loop has to do. Recorded are
NumPy's element-wise functions that a loop computes to the same bits (`OPERATIONS`), with NumPy's own types of results;
whatever else a kernel does with a stand-in is an `UnrecordableError`, and the node stays NumPy's. An optimizer's update is
recorded like any other kernel: what it writes to its variables in place becomes the loop's stores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# What a loop does for an element, by NumPy's name for it: Python's expression of the operands `{0}` …, the type `{t}` of the
# result, and the kinds of the operands for which it is exactly what NumPy computes.
OPERATIONS: dict[str, tuple[str, str]] = {
    "add": ("{0} + {1}", "iuf"),
    "subtract": ("{0} - {1}", "iuf"),
    "multiply": ("{0} * {1}", "iuf"),
    "divide": ("{0} / {1}", "f"),
    "negative": ("-{0}", "if"),
    "positive": ("{0}", "iuf"),
    "conjugate": ("{0}", "iuf"),
    "absolute": ("abs({0})", "if"),
    "square": ("{0} * {0}", "iuf"),
    "reciprocal": ("{t}(1) / {0}", "f"),
    "sqrt": ("np.sqrt({0})", "f"),
    "floor": ("np.floor({0})", "f"),
    "ceil": ("np.ceil({0})", "f"),
    "sign": ("{0} if {0} != {0} else {t}({0} > {t}(0)) - {t}({0} < {t}(0))", "f"),
    # Of a NaN and a number, the NaN.
    "maximum": ("{0} if ({0} >= {1}) | ({0} != {0}) else {1}", "iuf"),
    "minimum": ("{0} if ({0} <= {1}) | ({0} != {0}) else {1}", "iuf"),
    "greater": ("{0} > {1}", "iuf"),
    "greater_equal": ("{0} >= {1}", "iuf"),
    "less": ("{0} < {1}", "iuf"),
    "less_equal": ("{0} <= {1}", "iuf"),
    "equal": ("{0} == {1}", "iuf"),
    "not_equal": ("{0} != {1}", "iuf"),
    "isnan": ("{0} != {0}", "f"),
    "logical_and": ("{0} & {1}", "b"),
    "logical_or": ("{0} | {1}", "b"),
    "logical_xor": ("{0} != {1}", "b"),
    "logical_not": ("not {0}", "b"),
}
WHERE, CAST = "where", "cast"
_TYPES = frozenset({"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"})

Dims = tuple[int, ...]


class UnrecordableError(TypeError):
    """The kernel does something that a loop over elements does not do, or not to the same bits."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An array, or with no dimensions a number, that the loop is given. `written`: it stores to it.

    `by_row`: an array of all rows, of which the loop goes through those that the indices name.
    """

    dims: Dims
    dtype: np.dtype[Any]
    written: bool = False
    by_row: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """An element of an argument, as it was before the loop."""

    argument: int
    dims: Dims
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Number:
    """A number that the kernel brought along."""

    value: bool | int | float
    dtype: np.dtype[Any]
    dims: Dims = ()


@dataclass(frozen=True, slots=True)
class Applied:
    """What an operation gives for earlier expressions, which are numbered."""

    operation: str
    operands: tuple[int, ...]
    dims: Dims
    dtype: np.dtype[Any]


Expression = Load | Number | Applied


@dataclass(frozen=True)
class Recording:
    """A loop over the elements of `dims`. `stores`: (argument, number of an expression); argument -1: the loop's result."""

    dims: Dims
    arguments: tuple[Argument, ...]
    expressions: tuple[Expression, ...]
    stores: tuple[tuple[int, int], ...]
    indices: int | None = None  # the argument that says which rows, where there is one

    @property
    def work(self) -> int:
        """The operations for each element."""
        return sum(isinstance(e, Applied) and e.dims != () for e in self.expressions)


def _fits(dims: Dims, whole: Dims) -> bool:
    """Whether arrays of these dimensions are broadcast to the whole."""
    return len(dims) <= len(whole) and all(d in (1, w) for d, w in zip(dims[::-1], whole[::-1], strict=False))


def can_record(dtype: np.dtype[Any]) -> bool:
    return dtype.name in _TYPES and dtype.isnative


class Recorder:
    """Takes down kernels, one after another, as the body of one loop over arrays of `dims`."""

    def __init__(self, dims: Dims):
        self.dims = dims
        self._arguments: list[Argument] = []
        self._expressions: list[Expression] = []
        self._number: dict[Expression, int] = {}
        self._indices: int | None = None

    def argument(self, dims: Dims, dtype: np.dtype[Any], writeable: bool = False, by_row: bool = False) -> StandIn:
        """A stand-in for the next argument. UnrecordableError for a type that loops do not have."""
        if not can_record(dtype) or not _fits(dims, self.dims):
            raise UnrecordableError(f"{dtype} of shape {dims} in a loop over {self.dims}")
        self._arguments.append(Argument(dims, dtype, by_row=by_row))
        return self._made(Load(len(self._arguments) - 1, dims, dtype), writeable)

    def indices(self, dtype: np.dtype[Any]) -> None:
        """The next argument are the numbers of the rows, one for each along the first dimension."""
        self._indices = len(self._arguments)
        self._arguments.append(Argument((self.dims[0], 1), dtype))

    def finish(self, stores: Sequence[tuple[int, Any]]) -> Recording:
        """The loop that stores these; of arguments that are written to, the stand-in's last value."""
        numbered = tuple((argument, self.number_of(value)) for argument, value in stores)
        written = {argument for argument, _ in stores}
        arguments = tuple(Argument(a.dims, a.dtype, n in written, a.by_row) for n, a in enumerate(self._arguments))
        return Recording(self.dims, arguments, tuple(self._expressions), numbered, self._indices)

    def number_of(self, value: Any) -> int:
        number = self.stand_in(value).number
        if number is None:
            raise UnrecordableError("an array is read before it is written to")
        return number

    def stand_in(self, value: Any, dtype: np.dtype[Any] | None = None) -> StandIn:
        """`value` as a stand-in: numbers may come as Python's or NumPy's."""
        if isinstance(value, StandIn):
            return value if dtype is None or value.dtype == dtype else self.apply(CAST, [value], dtype)
        array = np.asarray(value)
        if array.size != 1 or not can_record(array.dtype):
            raise UnrecordableError(f"an array of {array.dtype}{array.shape} that the kernel brought along")
        kind = array.dtype if dtype is None else dtype
        return self._made(Number(array.reshape(()).astype(kind).item(), kind))

    def apply(self, operation: str, operands: Sequence[Any], dtype: np.dtype[Any]) -> StandIn:
        """A new expression, or the same as before for the same operands."""
        given = [self.stand_in(operand) for operand in operands]
        if operation == CAST and given[0].dtype.kind == "f" and dtype.kind in "iu":
            raise UnrecordableError("what a number becomes that no integer holds is the processor's choice")
        if not can_record(dtype):
            raise UnrecordableError(f"results of {dtype}")
        dims = np.broadcast_shapes(*(one.shape for one in given))
        return self._made(Applied(operation, tuple(map(self.number_of, given)), dims, dtype))

    def _made(self, expression: Expression, writeable: bool = False) -> StandIn:
        # Numbers that are equal need not be the same: 0.0 and -0.0, 1 and True.
        number = None if isinstance(expression, Number) else self._number.get(expression)
        if number is None:
            number = len(self._expressions)
            self._number[expression] = number
            self._expressions.append(expression)
        return StandIn(self, number, expression.dims, expression.dtype, writeable)


class StandIn(np.lib.mixins.NDArrayOperatorsMixin):
    """Stands for an array: of a known shape and dtype, with what each element is as `number` (None: not written to yet)."""

    __slots__ = ("_recorder", "_writeable", "dtype", "number", "shape")

    def __init__(self, recorder: Recorder, number: int | None, shape: Dims, dtype: np.dtype[Any], writeable: bool = False):
        self._recorder = recorder
        self.number = number
        self.shape = shape
        self.dtype = dtype
        self._writeable = writeable

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def astype(self, dtype: Any, copy: bool = True) -> StandIn:
        return self._recorder.stand_in(self, np.dtype(dtype))

    def copy(self) -> StandIn:
        return StandIn(self._recorder, self._recorder.number_of(self), self.shape, self.dtype, writeable=True)

    def reshape(self, *dims: Any) -> StandIn:
        wanted = np.empty(self.shape, np.bool_).reshape(*dims).shape
        if wanted != self.shape:
            raise UnrecordableError("another shape of an array")
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not Ellipsis:
            raise UnrecordableError("parts of an array")
        self._store(self._recorder.stand_in(value))

    def _store(self, value: StandIn) -> StandIn:
        if not self._writeable or not _fits(value.shape, self.shape):
            raise UnrecordableError("an array that may not be written to, or not like that")
        self.number = self._recorder.number_of(self._recorder.stand_in(value, self.dtype))
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise UnrecordableError(f"`{name}` of an array")

    def __len__(self) -> int:
        return self.shape[0]

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        raise UnrecordableError("what an array holds, or parts of it")

    __bool__ = __int__ = __float__ = __index__ = __array__ = __getitem__ = __iter__ = _refuse

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        template, kinds = OPERATIONS.get(ufunc.__name__, ("", ""))
        if method != "__call__" or not template or not kwargs.keys() <= {"dtype"}:
            raise UnrecordableError(f"{ufunc.__name__}.{method}")
        recorder = self._recorder
        wanted = {} if kwargs.get("dtype") is None else {"signature": (*[None] * len(inputs), np.dtype(kwargs["dtype"]))}
        *taken, given = ufunc.resolve_dtypes((*map(_kind_of, inputs), None), casting="same_kind", **wanted)
        if any(kind.kind not in kinds for kind in taken):
            raise UnrecordableError(f"{ufunc.__name__} of {taken}")
        result = recorder.apply(
            ufunc.__name__, [recorder.stand_in(one, d) for one, d in zip(inputs, taken, strict=True)], given
        )
        if out is None:
            return result
        return out[0]._store(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        rule = _FUNCTIONS.get(function)
        if rule is None:
            raise UnrecordableError(f"numpy.{function.__name__}")
        return rule(self._recorder, *args, **kwargs)


def _kind_of(operand: Any) -> Any:
    """The dtype by which the type of a result is found; Python's own numbers take on that of the other operand."""
    return type(operand) if type(operand) in (int, float) else getattr(operand, "dtype", np.dtype(np.bool_))


# --- NumPy's functions that are not ufuncs -----------------------------------------------------------------------------


def _where(recorder: Recorder, condition: Any, x: Any, y: Any) -> StandIn:
    kind = np.result_type(*(one.dtype if isinstance(one, StandIn) else one for one in (x, y)))
    chosen = [recorder.stand_in(one, kind) for one in (x, y)]
    return recorder.apply(WHERE, [recorder.stand_in(condition, np.dtype(np.bool_)), *chosen], kind)


def _empty_like(recorder: Recorder, prototype: StandIn, dtype: Any = None) -> StandIn:
    kind = prototype.dtype if dtype is None else np.dtype(dtype)
    return StandIn(recorder, None, prototype.shape, kind, writeable=True)


def _full_like(recorder: Recorder, prototype: StandIn, value: Any, dtype: Any = None) -> StandIn:
    return _empty_like(recorder, prototype, dtype)._store(recorder.stand_in(value))


def _copyto(recorder: Recorder, to: StandIn, value: Any) -> None:
    to._store(recorder.stand_in(value))


_FUNCTIONS: dict[Any, Any] = {
    np.where: _where,
    np.empty_like: _empty_like,
    np.full_like: _full_like,
    np.zeros_like: lambda recorder, prototype, dtype=None: _full_like(recorder, prototype, 0, dtype),
    np.ones_like: lambda recorder, prototype, dtype=None: _full_like(recorder, prototype, 1, dtype),
    np.copyto: _copyto,
    np.shape: lambda recorder, array: array.shape,
    np.ndim: lambda recorder, array: array.ndim,
    np.size: lambda recorder, array: array.size,
}
