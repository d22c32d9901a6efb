"""Functions of TensorFlow 1.15 with the arguments that they have in version 2: fewer, and some in another order."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes


def with_arguments(function: Callable[..., Any], arguments: str, **fixed: Any) -> Callable[..., Any]:
    """A function of `arguments` ("input, axis=None"), which hands them to `function` by name, and `fixed` with them."""
    scope = {**vars(dtypes), "function": function, "fixed": fixed}
    signature = inspect.signature(eval(f"lambda {arguments}: None", scope))
    handed = ", ".join(f"{name}={name}" for name in signature.parameters)
    name = function.__name__
    exec(f"def {name}({arguments}): return function({handed}, **fixed)", scope)
    scope[name].__doc__ = function.__doc__
    return scope[name]
