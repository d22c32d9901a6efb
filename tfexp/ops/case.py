"""`tf.case`: conds nested in each other's false branches. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.scopes import control_dependencies, executing_eagerly, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_join import stack
from tfexp.ops.cast import cast
from tfexp.ops.check import Assert
from tfexp.ops.comparison import less_equal
from tfexp.ops.reduce import reduce_sum

Pair = tuple[Tensor, Callable[[], Any]]


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """The result of the first function whose predicate is true, else of `default`.

    `pred_fn_pairs`: a list of (scalar bool tensor, callable), an OrderedDict, or a dict, whose order is that of the
    predicates' names. `exclusive` checks at run time that at most one predicate holds; without `default`, at least one
    must. Raises TypeError for anything else, ValueError for a dict that runs eagerly and is not `exclusive`.
    """
    return case_by(functools.partial(cond, strict=strict), pred_fn_pairs, default, exclusive, name)


def case_by(
    cond_fn: Callable[..., Any],
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None,
    exclusive: bool,
    name: str,
    allow_python_preds: bool = False,
    **cond_kwargs: Any,
) -> Any:
    """`case` by conds of a program's own: `cond_fn(pred, true_fn=, false_fn=, name=, **cond_kwargs)`.

    `allow_python_preds`: predicates may be Python's bools, too.
    """
    pairs = _checked_pairs(pred_fn_pairs, (Tensor, bool) if allow_python_preds else (Tensor,), exclusive)
    choose = functools.partial(cond_fn, name="cond", **cond_kwargs)
    with name_scope(name, "case", [pred for pred, _ in pairs]):
        if default is None:
            default, pairs = _last_as_default(pairs)
        if not pairs:
            return default()
        dependencies = [_assert_at_most(1, [pred for pred, _ in pairs], "Input error: exclusive=True")] if exclusive else []
        function = default
        for pred, branch in reversed(pairs):
            function = _nested(choose, pred, branch, function)
        with control_dependencies(dependencies):
            return function()


def _nested(
    choose: Callable[..., Any], pred: Tensor, branch: Callable[[], Any], otherwise: Callable[[], Any]
) -> Callable[[], Any]:
    return lambda: choose(pred, true_fn=branch, false_fn=otherwise)


def _checked_pairs(pred_fn_pairs: Any, kinds: Any, exclusive: bool) -> list[Pair]:
    if isinstance(pred_fn_pairs, OrderedDict):
        pairs = list(pred_fn_pairs.items())
    elif isinstance(pred_fn_pairs, dict):
        pairs = _in_an_order(pred_fn_pairs, exclusive)
    elif isinstance(pred_fn_pairs, (list, tuple)):
        pairs = list(pred_fn_pairs)
    else:
        raise TypeError("fns must be a list, tuple, or dict")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in pred_fn_pairs must be a 2-tuple")
        pred, function = pair
        if not isinstance(pred, kinds):
            raise TypeError(f"pred must be a {' or '.join(kind.__name__ for kind in kinds)}, got: {pred!r}")
        if isinstance(pred, Tensor) and pred.dtype.base_dtype is not dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {_text(pred)}")
        if not callable(function):
            raise TypeError(f"fn for pred {_text(pred)} must be callable.")
    return pairs


def _in_an_order(pred_fn_pairs: dict[Any, Any], exclusive: bool) -> list[Pair]:
    """The pairs of a dict, which for TensorFlow has only the order of its predicates' names; eagerly they have none."""
    if not executing_eagerly():
        return sorted(pred_fn_pairs.items(), key=lambda item: item[0].name)
    if not exclusive:
        raise ValueError(
            "Unordered dictionaries are not supported for the `pred_fn_pairs` argument when `exclusive=False` and eager "
            "mode is enabled. Use a list of pairs or an OrderedDict."
        )
    return list(pred_fn_pairs.items())


def _text(pred: Any) -> str:
    if not isinstance(pred, Tensor):
        return str(pred)
    return "?" if executing_eagerly() else pred.name


def _last_as_default(pairs: list[Pair]) -> tuple[Callable[[], Any], list[Pair]]:
    """Without a default, the last function runs, behind a check that some predicate holds."""
    preds = [pred for pred, _ in pairs]
    *rest, (_, last) = pairs

    def default() -> Any:
        packed = stack(preds, name="preds_c")
        others = _assert_at_most(
            0,
            preds[:-1],
            f"Implementation error: selected default action #{len(rest)} was called, "
            "but some of other predicates are True: ",
        )
        some = Assert(preds[-1], ["Input error: None of conditions evaluated as True:", packed])
        with control_dependencies([others, some]):
            return last()

    return default, rest


def _assert_at_most(number: int, preds: list[Tensor], what: str) -> Any:
    packed = stack(preds, name="preds_c")
    count = reduce_sum(cast(packed, dtypes.int32), name="num_true_conds")
    allowed = constant(number, name="n_true_conds")
    names = ", ".join(map(_text, preds))
    message = f"{what}: more than {number} conditions ({names}) evaluated as True:"
    return Assert(less_equal(count, allowed), [message, packed], summarize=len(preds))


# --- by number ----------------------------------------------------------------------------------------------------------
