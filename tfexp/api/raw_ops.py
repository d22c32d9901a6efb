"""`tf.raw_ops`: every op that tfexp has, by its name, called with keyword arguments only.

Parameters are called as TensorFlow calls them there, and have its defaults: those of the op's signature, except for the few
that `_RENAMED` and `_DEFAULTS` list.
"""

from __future__ import annotations

import functools
import inspect
import typing  # `Any` is an op here
from collections.abc import Sequence

from tfexp.core.op import Op, all_ops, find_op

_REDUCTIONS = ("All", "Any", "Max", "Mean", "Min", "Prod", "Sum")

# op -> {name in the op's signature: name of the parameter}
_RENAMED: dict[str, dict[str, str]] = {
    **{op: {"reduction_indices": "axis"} for op in _REDUCTIONS},
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}

# op -> {name in the op's signature: the default of the parameter}, where the op's own is another one
_DEFAULTS: dict[str, dict[str, typing.Any]] = {
    "SdcaOptimizer": {"adaptative": True},
    "SdcaOptimizerV2": {"adaptive": True},
}


def _parameters(op: Op) -> dict[str, inspect.Parameter]:
    """The parameters of a raw op in TensorFlow's order, by the names that the op's signature has."""
    renamed, defaults = _RENAMED.get(op.name, {}), _DEFAULTS.get(op.name, {})
    return {
        own: parameter.replace(
            name=renamed.get(own, own), kind=inspect.Parameter.KEYWORD_ONLY, default=defaults.get(own, parameter.default)
        )
        for own, parameter in op.__signature__.parameters.items()
    }


def _listed(names: Sequence[str]) -> str:
    quoted = [repr(name) for name in names]
    return " and ".join(quoted) if len(quoted) < 3 else f"{', '.join(quoted[:-1])}, and {quoted[-1]}"


def _raw(op: Op) -> typing.Any:
    parameters = _parameters(op)
    own_names = {parameter.name: own for own, parameter in parameters.items()}
    required = [parameter.name for parameter in parameters.values() if parameter.default is inspect.Parameter.empty]
    optional = own_names.keys() - set(required)
    keys = list(own_names)

    def call(*positional: typing.Any, **arguments: typing.Any) -> typing.Any:
        if positional:
            raise TypeError(
                f"{op.name} only takes keyword args (possible keys: {keys}). Please pass these args as kwargs instead."
            )
        if unknown := [name for name in arguments if name not in own_names]:
            raise TypeError(f"{op.name}() got an unexpected keyword argument {unknown[0]!r} (possible keys: {keys})")
        if missing := [name for name in required if name not in arguments]:
            plural = "s" if len(missing) > 1 else ""
            raise TypeError(f"{op.name}() missing {len(missing)} required positional argument{plural}: {_listed(missing)}")
        # None for what has a default asks for the default.
        given = {name: value for name, value in arguments.items() if value is not None or name not in optional}
        return op(**_DEFAULTS.get(op.name, {}) | {own_names[name]: value for name, value in given.items()})

    call.__name__ = call.__qualname__ = op.name
    call.__doc__ = f"`{op.signature}`: one node. `tf.raw_ops.{op.name}`."
    call.__signature__ = inspect.Signature(list(parameters.values()))  # type: ignore[attr-defined]
    return call


@functools.cache
def __getattr__(name: str) -> typing.Any:
    op = None if name.startswith("_") else find_op(name)
    if op is None:
        raise AttributeError(f"module 'tfexp.raw_ops' has no attribute {name!r}: tfexp has no op of that name")
    return _raw(op)


def __dir__() -> list[str]:
    return sorted(name for name in all_ops() if not name.startswith("_"))
