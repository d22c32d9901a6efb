"""What only tests take from `tensorflow.python.autograph`'s `operators` and `utils`; lists are in `autograph_lists`.

Converted code of this package does not call these: they say the same of single values. Source: TF 1.15.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.autograph.branches import assert_ as assert_statement
from tfexp.autograph.builtin_functions import overload
from tfexp.autograph.feature import Feature
from tfexp.core.dtypes import DType
from tfexp.data.dataset import Dataset
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.tensor_array import TensorArray

# --- `operators.exceptions` -------------------------------------------------------------------------------------------


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Operation | None:
    """`assert expression1, expression2()`: of a tensor, a node. ValueError for a message that takes arguments."""
    if not callable(expression2):
        raise ValueError(f"{expression2!r} must be a callable")
    if expression2.__code__.co_argcount:
        raise ValueError(f"{expression2!r} may not have any arguments")
    if isinstance(expression1, Tensor):
        return tf.Assert(expression1, [expression2()])
    assert_statement(expression1, expression2)
    return None


# --- `operators.py_builtins` ------------------------------------------------------------------------------------------

_FEATURES = frozenset([Feature.BUILTIN_FUNCTIONS])
float_, int_, print_, range_ = (
    overload(function, _FEATURES) for function in (builtins.float, builtins.int, builtins.print, builtins.range)
)
abs_ = builtins.abs


def len_(s: Any) -> Any:
    """`len`, of tensors and of TensorArrays, too."""
    return s.size() if isinstance(s, TensorArray) else overload(builtins.len, _FEATURES)(s)


def enumerate_(s: Any, start: int = 0) -> Any:
    return s.enumerate(start) if isinstance(s, Dataset) else builtins.enumerate(s, start)


def zip_(*iterables: Any) -> Any:
    if iterables and all(isinstance(one, Dataset) for one in iterables):
        return Dataset.zip(iterables)
    return builtins.zip(*iterables, strict=False)


BUILTIN_FUINCTIONS_MAP = {  # TensorFlow's spelling
    name: globals()[f"{name}_"] for name in ("abs", "float", "int", "len", "print", "range", "enumerate", "zip")
}
SUPPORTED_BUILTINS = tuple(getattr(builtins, name) for name in BUILTIN_FUINCTIONS_MAP)


def overload_of(f: Any) -> Any:
    """What stands for a builtin function; other functions for themselves."""
    return BUILTIN_FUINCTIONS_MAP[f.__name__] if f in SUPPORTED_BUILTINS else f


# --- `operators.special_values` ---------------------------------------------------------------------------------------


class Undefined:
    """The value of a name that has none yet."""

    def __init__(self, symbol_name: str):
        self.symbol_name = symbol_name


class UndefinedReturnValue:
    """What a function returns that did not return yet."""


def is_undefined(value: Any) -> bool:
    return isinstance(value, Undefined)


def is_undefined_return(value: Any) -> bool:
    return isinstance(value, UndefinedReturnValue)


def retval(value: Any) -> Any:
    """A return value; None for one that is not defined."""
    return None if is_undefined_return(value) else value


# --- `utils` ----------------------------------------------------------------------------------------------------------


def alias_tensors(*args: Any) -> Any:
    """The arguments, tensors as new identities of theirs; one by itself."""
    aliased = [tf.identity(arg) if isinstance(arg, Tensor) else arg for arg in args]
    return aliased[0] if len(aliased) == 1 else aliased


def capitalize_initial(s: str) -> str:
    return s[:1].upper() + s[1:]


def get_range_len(start: Any, limit: Any, delta: Any) -> Tensor:
    """How many numbers `range(start, limit, delta)` has."""
    distance = tf.convert_to_tensor(limit) - start
    unadjusted = distance // delta
    return tf.maximum(unadjusted + tf.cast(tf.not_equal(distance - unadjusted * delta, 0), unadjusted.dtype), 0)


def is_dense_tensor(t: Any) -> bool:
    return isinstance(t, Tensor)


def is_tensor_array(t: Any) -> bool:
    return isinstance(t, TensorArray)


def is_tensor_list(t: Any) -> bool:
    """Whether a tensor is the handle of a list. Other variants are taken for lists, too."""
    return isinstance(t, Tensor) and t.dtype is tf.variant and t.shape.rank == 0


def is_range_tensor(t: Any) -> bool:
    return isinstance(t, Tensor) and t.op.type == "Range"


def is_tensor(*args: Any) -> bool:
    """Whether one of the arguments is a tensor, or a variable."""
    return any(tf.is_tensor(arg) for arg in args)


@dataclass(frozen=True)
class MatchDType:
    """A result of the type of that argument."""

    arg_number: int


def wrap_py_func(
    f: Callable[..., Any],
    return_dtypes: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None = None,
    use_dummy_return: bool = False,
) -> Any:
    """A node that calls `f` with the values of those arguments that are tensors, and with the others as they are.

    return_dtypes: of its results, or MatchDType; None for none. With `use_dummy_return` it gives 1, whatever `f` returns.
    ValueError for both.
    """
    if return_dtypes and use_dummy_return:
        raise ValueError("if use_dummy_return is True, return_dtypes must be empty")
    names, values = list(kwargs or ()), [*args, *(kwargs or {}).values()]
    places = [place for place, value in enumerate(values) if isinstance(value, Tensor)]

    def called(*tensors: Any) -> Any:
        given = list(values)
        for place, value in zip(places, tensors, strict=True):
            given[place] = value
        count = len(args)
        result = f(*given[:count], **dict(zip(names, given[count:], strict=True)))
        return 1 if use_dummy_return else result

    kinds = tf.int64 if use_dummy_return else tf.nest.map_structure(functools.partial(_kind, args), return_dtypes)
    return tf.py_func(called, [values[place] for place in places], kinds, stateful=True)


def _kind(args: Sequence[Any], kind: Any) -> DType:
    if isinstance(kind, MatchDType):
        argument = args[kind.arg_number]
        return argument.dtype if isinstance(argument, Tensor) else tf.convert_to_tensor(argument).dtype
    return tf.as_dtype(kind)
