"""Stand-ins for arrays while a segment is compiled: NumPy's functions work on them, and JAX takes down what they do.

So the kernel that computes with arrays also says how to compile them. Types of results are NumPy's; JAX has rules of its
own. In-place updates replace what a stand-in stands for; a view of one (`x[...]`, `x.T`) cannot be updated, because the
stand-in that it came from would not see it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_VIEWS = frozenset({"transpose", "reshape", "ravel", "swapaxes", "squeeze", "T", "real", "imag"})
_METHODS = _VIEWS | {"astype", "sum", "mean", "max", "min", "prod", "any", "all", "conj", "clip", "round", "cumsum"}


class StandIn(np.lib.mixins.NDArrayOperatorsMixin):
    """`traced` is JAX's own array. `writeable` as of a NumPy array."""

    __slots__ = ("traced", "writeable")

    def __init__(self, traced: Any, writeable: bool = True):
        self.traced = traced
        self.writeable = writeable

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.traced.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(self.traced.dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def copy(self) -> StandIn:
        return StandIn(self.traced)

    def store(self, value: Any) -> None:
        """Stand for `value` from now on, converted and broadcast to what this array is."""
        if not self.writeable:
            raise TypeError("A kernel that is compiled updates a view: the array would not see it")
        self.traced = jnp.broadcast_to(jnp.asarray(unwrapped(value)).astype(self.dtype), self.shape)

    def __getitem__(self, index: Any) -> StandIn:
        return StandIn(self.traced[unwrapped(index)], writeable=False)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is Ellipsis:
            self.store(value)
        else:
            self.store(self.traced.at[unwrapped(index)].set(jnp.asarray(unwrapped(value)).astype(self.dtype)))

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(f"A stand-in for an array has no {name!r}")
        found = getattr(self.traced, name)
        return _wrapped_call(found, name not in _VIEWS) if callable(found) else StandIn(found, writeable=False)

    def __len__(self) -> int:
        return len(self.traced)

    def __bool__(self) -> bool:
        raise TypeError("What a kernel does may not depend on values when it is compiled")

    __int__ = __float__ = __index__ = __bool__

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise TypeError("An array that is being compiled has no values yet")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        if method == "__call__":
            result = _called(ufunc, inputs, **kwargs)
        elif method == "reduce" and ufunc.__name__ in _REDUCTIONS:
            result = _reduced(ufunc, *inputs, **kwargs)
        else:
            return NotImplemented
        return _delivered(result, out[0] if isinstance(out, tuple) else out)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if function is np.copyto:
            args[0].store(args[1] if "where" not in kwargs else np.where(kwargs["where"], args[1], args[0]))
            return None
        ours: Any = getattr(jnp, function.__name__, None)
        if ours is None:
            return NotImplemented
        out = kwargs.pop("out", None)
        result = ours(*unwrapped(args), **{name: unwrapped(value) for name, value in kwargs.items()})
        return _delivered(result, out)


def unwrapped(value: Any) -> Any:
    """`value` with JAX's arrays in place of stand-ins, in lists and tuples too."""
    if isinstance(value, StandIn):
        return value.traced
    if type(value) in (list, tuple):
        return type(value)(unwrapped(one) for one in value)
    return value


def _delivered(result: Any, out: Any) -> Any:
    if out is None:
        return _wrapped(result)
    if not isinstance(out, StandIn):
        raise TypeError("A kernel that is compiled writes to an array of NumPy's: make it with np.empty_like")
    out.store(result)
    return out


def _wrapped(result: Any, writeable: bool = True) -> Any:
    if isinstance(result, (list, tuple)):
        return type(result)(_wrapped(one, writeable) for one in result)
    return StandIn(result, writeable) if isinstance(result, jnp.ndarray) else result


def _wrapped_call(function: Callable[..., Any], writeable: bool) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return _wrapped(function(*unwrapped(args), **kwargs), writeable)

    return call


def _called(ufunc: Any, inputs: tuple[Any, ...], dtype: Any = None, **kwargs: Any) -> Any:
    """The ufunc on arrays of the types that NumPy would have converted them to."""
    if kwargs:
        raise TypeError(f"np.{ufunc.__name__} cannot be compiled with {', '.join(sorted(kwargs))}")
    arrays = [unwrapped(value) for value in inputs]
    kinds = _resolved(ufunc, tuple(_kind(value) for value in arrays), None if dtype is None else np.dtype(dtype))
    converted = [jnp.asarray(a).astype(kind) for a, kind in zip(arrays, kinds, strict=False)]
    result = getattr(jnp, ufunc.__name__)(*converted)
    results = result if isinstance(result, tuple) else (result,)
    typed = tuple(one.astype(kind) for one, kind in zip(results, kinds[ufunc.nin :], strict=True))
    return typed if isinstance(result, tuple) else typed[0]


def _kind(value: Any) -> Any:
    """An array's dtype; of Python's own numbers, which take the type of their company, the class."""
    if type(value) in (int, float, complex):
        return type(value)
    return np.dtype(np.asarray(value).dtype) if not hasattr(value, "dtype") else np.dtype(value.dtype)


@functools.cache
def _resolved(ufunc: Any, inputs: tuple[Any, ...], dtype: np.dtype[Any] | None) -> tuple[np.dtype[Any], ...]:
    wanted = {} if dtype is None else {"signature": (*[None] * ufunc.nin, *[dtype] * ufunc.nout)}
    resolved: tuple[np.dtype[Any], ...] = ufunc.resolve_dtypes((*inputs, *[None] * ufunc.nout), **wanted)
    return resolved


def _reduced(
    ufunc: Any, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, initial: Any = None, **kwargs: Any
) -> Any:
    if kwargs:
        raise TypeError(f"np.{ufunc.__name__}.reduce cannot be compiled with {', '.join(sorted(kwargs))}")
    name = _REDUCTIONS[ufunc.__name__]
    more = {} if initial is None or isinstance(initial, type(np._NoValue)) else {"initial": initial}
    typed = {} if name in ("max", "min", "all", "any") else {"dtype": dtype or array.dtype}
    return getattr(jnp, name)(unwrapped(array), axis=axis, keepdims=keepdims, **typed, **more)
