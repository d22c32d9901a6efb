"""Functions over elements, gradients, printing. Source: `tf.keras.backend`, TF 1.15."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from tfexp.graph import gradients as _gradients
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops import functional
from tfexp.ops.array_identity import identity
from tfexp.ops.print_v2 import print_v2


def map_fn(fn: Callable[[Any], Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """`fn` of each slice of the first axis, stacked. `dtype`: of the results, where it is another."""
    return functional.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """`fn(fn(initializer, first), second) …`; without an initializer the first slice begins."""
    return functional.foldl(fn, elems, initializer=initializer, name=name)


def foldr(fn: Callable[[Any, Any], Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """As `foldl`, from the last slice to the first."""
    return functional.foldr(fn, elems, initializer=initializer, name=name)


def gradients(loss: Any, variables: Any) -> list[Any]:
    """The gradients of `loss`, None for variables that it does not depend on."""
    return _gradients.gradients(loss, variables)


def print_tensor(x: Any, message: str = "") -> Any:
    """`x`; whoever computes it prints the message and the value to the standard output."""
    printed = print_v2(message, x, output_stream=sys.stdout)
    if not isinstance(x, Tensor) or printed is None:
        return x
    with control_dependencies([printed]):
        return identity(x)
