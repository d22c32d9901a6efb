"""`tf.recompute_grad`: what a function computes is thrown away, and computed again for its gradient. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.graph.custom_gradient import custom_gradient
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tape import GradientTape


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` of tensors, with a gradient that computes `f` anew: less memory for more work.

    `f` may use resource variables; its random numbers should have the same seeds both times.
    """

    @functools.wraps(f)
    @custom_gradient
    def forgetting(*args: Any) -> Any:
        def gradient(*grads: Any, variables: Any = None) -> Any:
            used = [] if variables is None else list(variables)
            with GradientTape() as tape:
                tape.watch(list(args))
                tape.watch(used)
                # Only when the gradient has come: else what is computed twice would be kept once.
                with control_dependencies(grads):
                    result = f(*args)
            found = tape.gradient(result, [*args, *used], list(grads) if isinstance(result, (list, tuple)) else grads[0])
            return found[: len(args)] if variables is None else (found[: len(args)], found[len(args) :])

        return f(*args), gradient

    return forgetting
