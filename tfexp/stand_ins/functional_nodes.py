"""Nodes that run a `Defun`: `functional_ops.If`, `While`, `For`, `Gradient`, `partitioned_call`, `remote_call`.

Source: TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.op import get_op
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.defun import Defun, get_extra_args
from tfexp.ops.elementwise_unary import abs as abs_


def _result_types(function: Any) -> list[Any]:
    return [output.type for output in function.definition.signature.output_arg]


def If(cond: Any, inputs: Sequence[Any], then_branch: Any, else_branch: Any, name: str | None = None) -> list[Tensor]:
    """`then_branch(*inputs)` where `cond`, any tensor, is true (not 0, not empty), else `else_branch(*inputs)`."""
    types = _result_types(then_branch)
    results: list[Tensor] = get_op("If")(
        cond, inputs, Tout=types, then_branch=then_branch, else_branch=else_branch, name=name
    )
    return results


def While(input_: Sequence[Any], cond: Any, body: Any, name: str | None = None, hostmem: Any = None) -> list[Tensor]:
    """What `body` makes of `input_`, again and again while `cond(*values)`.

    ValueError if `cond` captures tensors, or takes other types than `body`.
    """
    if cond.captured_inputs:
        raise ValueError("The 'cond' argument can not have implicitly captured inputs")
    types = list(body.declared_input_types)
    if list(cond.declared_input_types) != types:
        texts = [str(tuple(declared)) for declared in (cond.declared_input_types, types)]
        raise ValueError(f"While op 'cond' and 'body' signatures do not match. {texts[0]} vs {texts[1]}")
    captured, asked = body.captured_inputs, cond
    if captured:
        body = _keeping_captured(body, "BodyWrapper")
        asked = Defun(*types, *[tensor.dtype for tensor in captured], func_name=f"{cond.name}_Wrapper")(
            lambda *values: cond(*values[: len(types)])
        )
    results: list[Tensor] = get_op("While")([*input_, *captured], cond=asked, body=body, name=name)
    return results[: len(types)]


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: Any,
    name: str | None = None,
    hostmem: Any = None,
    rewrite_with_while: bool | None = None,
) -> list[Tensor]:
    """What `body(i, *values)` makes of `inputs`, i from `start` to before `limit` by `delta`.

    `rewrite_with_while`: by a node that is called `While`, whose values begin with the number of the turn, that of turns,
    `start` and `delta`.
    """
    if rewrite_with_while:
        return _for_as_while(start, limit, delta, inputs, body, name)
    captured = body.captured_inputs
    if captured:
        body = _keeping_captured(body, "Wrapper")
    results = get_op("For")(start, limit, delta, [*inputs, *captured], body=body, name=name)
    return list(results[: len(inputs)]) if inputs else []


def _for_as_while(start: Any, limit: Any, delta: Any, inputs: Sequence[Any], body: Any, name: str | None) -> list[Tensor]:
    step, distance = abs_(delta), abs_(limit - start)
    span = cast(distance + step - 1, dtypes.float32)
    turns = cast(span / cast(step, dtypes.float32), dtypes.int32)

    def is_left(turn: Tensor, turns: Tensor, *_: Tensor) -> Tensor:
        return turn < turns

    def turned(turn: Tensor, turns: Tensor, start: Tensor, delta: Tensor, *values: Tensor) -> list[Any]:
        return [turn + 1, turns, start, delta, *_results_of(body, [start + turn * delta, *values])]

    types = [dtypes.int32] * 4 + list(body.declared_input_types[1:])
    going_on = Defun(*types, func_name=f"{body.name}_Cond")(is_left)
    once = Defun(*types, func_name=f"{body.name}_Body")(turned)
    return While([0, turns, start, delta, *inputs], going_on, once, name=name)[4:]


def Gradient(inputs: Sequence[Any], f: Any, name: str | None = None) -> list[Tensor]:
    """The gradients of `f` for its arguments; `inputs` are these and a gradient for each result."""
    tensors = [convert_to_tensor(one) for one in inputs]
    types = list(f.declared_input_types)
    results: list[Tensor] = get_op("SymbolicGradient")(tensors, Tout=types, f=f, name=name)
    return results


def _results_of(body: Any, values: Sequence[Any]) -> list[Any]:
    """What a call of `body` gives, none where that is the node alone."""
    results = body(*values)
    if isinstance(results, Operation):
        return []
    return list(results) if isinstance(results, (list, tuple)) else [results]


def _keeping_captured(body: Any, label: str) -> Any:
    """`body`, but that what it captures goes round with the values."""

    def turn(*values: Any) -> list[Any]:
        return [*_results_of(body, values), *get_extra_args()]

    return Defun(*body.declared_input_types, func_name=f"{body.name}_{label}")(turn)


def partitioned_call(args: Sequence[Any], f: Any, tout: Sequence[Any] | None = None, **_: Any) -> list[Tensor]:
    """The results of `f` of `args`, as one node. `tout`: their types, those of `f` unless given."""
    tensors = [convert_to_tensor(arg) for arg in args]
    op = get_op("StatefulPartitionedCall" if f.stateful_ops else "PartitionedCall")
    results: list[Tensor] = op([*tensors, *f.captured_inputs], Tout=list(tout or _result_types(f)), f=f)
    return results


def remote_call(target: Any, args: Sequence[Any], Tout: Sequence[Any], f: Any, name: str | None = None) -> list[Tensor]:
    """The results, of types `Tout`, of `f` of `args`, as one node; it runs in this process, whatever `target` says."""
    tensors = [convert_to_tensor(arg) for arg in args]
    place = convert_to_tensor(target, name="target")
    results: list[Tensor] = get_op("RemoteCall")(place, [*tensors, *f.captured_inputs], Tout=list(Tout), f=f, name=name)
    return results
