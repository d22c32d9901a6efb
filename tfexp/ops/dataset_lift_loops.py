"""Loops as lifting (`dataset_lift`) looks at them: what their Enter, Merge, Switch, NextIteration and Exit nodes come to."""

from __future__ import annotations

from dataclasses import dataclass

from tfexp.graph.operation import Operation
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_lift_rules import NotLiftableError


@dataclass(frozen=True)
class Loop:
    """What each variable is at its start, in the condition, in the body, and for the next round.

    What stays the same from round to round comes after the variables. `exits`: outputs of the loop and whose they are.
    """

    starts: list[Tensor]
    asked: list[Tensor]
    condition: Tensor
    entered: list[Tensor]
    following: list[Tensor]
    exits: dict[Tensor, int]


def loop_of(op: Operation) -> Loop:
    """The loop that an Exit node leaves. NotLiftableError when it is not put together as `tf.while_loop` does it."""
    decision = _before(op, 0, "Switch").inputs[1]
    switches = [one for one in decision.consumers() if one.type == "Switch" and one.inputs[1] is decision]
    merges = [_before(switch, 0, "Merge") for switch in switches]
    enters = [_before(merge, 0, "Enter") for merge in merges]
    following = [_before(merge, 1, "NextIteration") for merge in merges]
    frame = enters[0].attrs["frame_name"]
    same = [
        one
        for one in op.graph._operations
        if one.type == "Enter" and one.attrs["is_constant"] and one.attrs["frame_name"] == frame
    ]
    constants = [one.outputs[0] for one in same]
    return Loop(
        [one.inputs[0] for one in (*enters, *same)],
        [*(merge.outputs[0] for merge in merges), *constants],
        _before_tensor(decision, "LoopCond").inputs[0],
        [*(switch.outputs[1] for switch in switches), *constants],
        [*(one.inputs[0] for one in following), *constants],
        {
            one.outputs[0]: position
            for position, switch in enumerate(switches)
            for one in switch.outputs[0].consumers()
            if one.type == "Exit"
        },
    )


def _before(op: Operation, position: int, op_type: str) -> Operation:
    return _before_tensor(op.inputs[position], op_type)


def _before_tensor(tensor: Tensor, op_type: str) -> Operation:
    if tensor.op.type != op_type:
        raise NotLiftableError
    return tensor.op
