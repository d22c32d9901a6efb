"""`tf.contrib.framework.smart_cond`: conditionals decided while the graph is built, if they can be. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.constant_value import constant_value
from tfexp.graph.control_flow import cond
from tfexp.graph.tensor import Tensor
from tfexp.ops.case import case


def smart_constant_value(pred: Any) -> Any:
    """The bool that `pred` (a bool, 0 or 1, a boolean tensor) is known to be, or None. TypeError for anything else."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: {type(pred)}")


def smart_cond(
    pred: Any, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """`tf.cond`, or the one branch alone where `pred` is known. TypeError when a branch cannot be called."""
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn=true_fn, false_fn=false_fn, name=name)
    return true_fn() if known else false_fn()


def smart_case(
    pred_fn_pairs: Any, default: Callable[[], Any] | None = None, exclusive: bool = False, name: str = "smart_case"
) -> Any:
    """`tf.case`, or the one branch alone where the predicates are known."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    undecided = []
    for pred, branch in pairs:
        known = smart_constant_value(pred)
        if known is None:
            undecided.append((pred, branch))
        elif known and not undecided:
            return branch()
        elif known:
            undecided.append((pred, branch))
    if not undecided and default is not None:
        return default()
    return case(undecided, default=default, exclusive=exclusive, name=name)
