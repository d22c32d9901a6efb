"""The functions of `tf.layers`: each makes a layer of its class and calls it once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor


def functional(layer_class: type, name: str) -> Callable[..., Any]:
    """`name(inputs, <the class's arguments>, reuse=None)`: the layer, named by `name=`, applied to the inputs.

    reuse: share the variables of the layer of that name.
    """
    own = [p for p in inspect.signature(layer_class).parameters.values() if p.kind is not p.VAR_KEYWORD]
    first = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    signature = inspect.Signature([first, *own, inspect.Parameter("reuse", first.kind, default=None)])

    def apply(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs, reuse = convert_to_tensor(given.pop("inputs")), given.pop("reuse", None)
        layer = layer_class(**given, dtype=inputs.dtype.base_dtype, _scope=given.get("name"), _reuse=reuse)
        return layer.apply(inputs)

    functools.update_wrapper(apply, layer_class, assigned=("__doc__", "__module__"), updated=())
    apply.__name__ = apply.__qualname__ = name
    apply.__signature__ = signature  # type: ignore[attr-defined]
    return apply


def known_truth(value: Any) -> bool | None:
    """Whether `training` is on; None where only the run knows."""
    if not isinstance(value, Tensor):
        return bool(value)
    known = static_value(value)
    return None if known is None else bool(known)
