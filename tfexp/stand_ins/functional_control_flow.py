"""`tensorflow.python.ops.while_v2`, `.cond_v2` and `.control_flow_util_v2`: control flow by nodes that call functions.

Whatever `tf.while_loop` and `tf.cond` make here. Source: TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.graph import behavior, control_flow
from tfexp.graph import while_loop as loops
from tfexp.graph.function_graph import FunctionGraph
from tfexp.graph.scopes import get_default_graph
from tfexp.ops import case


@contextlib.contextmanager
def _functional() -> Iterator[None]:
    before = behavior.control_flow_v2_enabled()
    behavior.enable_control_flow_v2()
    try:
        yield
    finally:
        if not before:
            behavior.disable_control_flow_v2()


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """`tf.while_loop` as one While node."""
    with _functional():
        return loops.while_loop(
            cond,
            body,
            loop_vars,
            shape_invariants,
            parallel_iterations,
            back_prop,
            name=name,
            maximum_iterations=maximum_iterations,
            return_same_structure=return_same_structure,
        )


def cond_v2(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = "cond") -> Any:
    """`tf.cond` as one If node; results stay in the structure that the functions return."""
    with _functional():
        return control_flow.cond(pred, true_fn, false_fn, strict=True, name=name)


def indexed_case(branch_index: Any, branch_fns: Any, name: str = "indexed_case") -> Any:
    """`tf.switch_case` of If nodes."""
    with _functional():
        return case.switch_case(branch_index, branch_fns, name=name)


def in_defun() -> bool:
    """Whether the default graph is that of a function which is traced."""
    return get_default_graph().is_traced


def unique_fn_name(scope: str, name: str) -> str:
    """A name for a function that belongs to a node in a scope: without slashes, and new."""
    return get_default_graph().unique_name(f"{scope}{name}_".replace("/", "_"))


def output_all_intermediates() -> bool:
    """Nodes give what their gradients need, and nothing else."""
    return False


@contextlib.contextmanager
def clear_control_inputs() -> Iterator[None]:
    with get_default_graph().control_dependencies(None):
        yield


class _FunctionKind(type):
    """Functions of branches and loops are function graphs like all others."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, FunctionGraph)


class CondBranchFuncGraph(metaclass=_FunctionKind):
    """The graph of a branch."""


class WhileCondFuncGraph(metaclass=_FunctionKind):
    """The graph of a loop's condition."""


class WhileBodyFuncGraph(metaclass=_FunctionKind):
    """The graph of a loop's body."""
