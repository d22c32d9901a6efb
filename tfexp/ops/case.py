"""`tf.case`: conds nested in each other's false branches; `tf.switch_case`: one node. Source: TF 1.15."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.functional_cond import functional_case
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


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case"
) -> Any:
    """The result of the function whose number `branch_index` is, a scalar int32 tensor; of `default` for any other number.

    `branch_fns`: callables in order, or (number, callable) pairs or a dict of them with the numbers 0, 1, …, each once.
    Without `default` the last one is it. TypeError or ValueError for anything else.
    """
    functions = _numbered(branch_fns)
    if not isinstance(branch_index, Tensor):
        raise TypeError(f"branch_index must a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"branch_index must an integer Tensor, got {branch_index.dtype}")
    if default is not None:
        if not callable(default):
            raise TypeError(f"'default' must be callable, got {type(default)}")
        functions.append(default)
    with name_scope(name, "switch_case", [branch_index]):
        if executing_eagerly():
            number: int = branch_index.numpy()  # type: ignore[attr-defined]
            return functions[number if 0 <= number < len(functions) else -1]()
        with name_scope("indexed_case") as scope:
            return functional_case(branch_index, functions, scope, _check_same_results)


def _check_same_results(first: Any, other: Any, tensors: list[Any], others: list[Any]) -> None:
    try:
        nest.assert_same_structure(first, other, expand_composites=True)
        for one, another in zip(tensors, others, strict=True):
            if one.dtype.base_dtype is not another.dtype.base_dtype:
                raise TypeError(f"their types are {one.dtype.base_dtype.name} and {another.dtype.base_dtype.name}")
    except (TypeError, ValueError) as error:
        raise TypeError(
            "The branches of tf.switch_case must have the same number, type, and overall structure of return values.\n\n"
            f"branches[0] output: {first}\nanother output: {other}\n\nError details:\n{error}"
        ) from None


def _numbered(branch_fns: Any) -> list[Callable[[], Any]]:
    if isinstance(branch_fns, dict):
        pairs = list(branch_fns.items())
    elif isinstance(branch_fns, (list, tuple)):
        pairs = list(enumerate(branch_fns)) if all(map(callable, branch_fns)) else list(branch_fns)
    else:
        raise TypeError("branch_fns must be a list, tuple, or dict")
    if not pairs:
        raise ValueError("Must provide at least one item in branch_fns")
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Each entry in branch_fns must be a 2-tuple")
        if not isinstance(pair[0], int):
            raise TypeError(f"key must be a Python `int`, got {type(pair[0])}")
        if not callable(pair[1]):
            raise TypeError(f"fn for key {pair[0]} must be callable.")
    keys = sorted(key for key, _ in pairs)
    if keys != list(range(len(pairs))):
        found = ",".join(map(str, keys))
        raise ValueError(f"branch indices (keys) must form contiguous range of [0 to {len(pairs)}) but found {{{found}}}")
    return [function for _, function in sorted(pairs, key=lambda pair: pair[0])]
