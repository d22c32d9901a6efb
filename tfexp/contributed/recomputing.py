"""`tf.contrib.layers.recompute_grad`: layers that are computed again for their gradients. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tfexp.contributed.arg_scope import arg_scope, current_arg_scope
from tfexp.graph.recompute import recompute_grad as computed_again
from tfexp.ops.variable_scope import get_variable_scope, variable_scope


def recompute_grad(
    fn: Callable[..., Any] | None = None, use_data_dep: Any = True, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """`fn` of tensors, which may make resource variables; nothing of what it computes is kept for its gradient.

    The second time it finds the variables of the first, and the `arg_scope` of then. Without `fn`, a decorator.
    use_data_dep, tupleize_grads: here the second time always waits for all gradients of the result.
    """
    if fn is None:
        return functools.partial(recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads)

    @functools.wraps(fn)
    def recomputed(*args: Any) -> Any:
        scope, defaults = get_variable_scope(), current_arg_scope()
        made: list[bool] = []

        def compute(*tensors: Any) -> Any:
            reuse = bool(made) or scope.reuse
            made.append(True)
            with variable_scope(scope, reuse=reuse, auxiliary_name_scope=False), arg_scope(defaults):
                return fn(*tensors)

        return computed_again(compute)(*args)

    return recomputed
