"""`tf.contrib.framework.smart_cond`: conditionals decided while the graph is built, if they can be. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.graph.control_flow import cond
from tfexp.graph.shape_inference import static_value
from tfexp.graph.tensor import Tensor
from tfexp.ops.case import case_by


def smart_constant_value(pred: Any) -> Any:
    """The bool that `pred` (a bool, 0 or 1, a boolean tensor) is known to be, or None. TypeError for anything else."""
    if isinstance(pred, Tensor):
        value = static_value(pred)
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
    """`tf.case`, whose predicates may be bools, without the branches that are known not to be taken."""
    return case_by(smart_cond, pred_fn_pairs, default, exclusive, name, allow_python_preds=True)
