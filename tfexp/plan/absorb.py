"""What follows a heavy node, element by element, is computed with it where its call can do that (`Call.followed_by`).

A convolution by a library adds the bias and takes the Relu of what it has in registers, which saves one or two passes over
memory. Only what nobody else reads goes in: another reader of the convolution, a fetch included, gets it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from tfexp.core.kernel import Call
from tfexp.plan.bind import request_of
from tfexp.plan.groups import Groups, node_of, replace
from tfexp.plan.ir import Draft, Node, Value
from tfexp.plan.mortal import find_mortal


def absorb(draft: Draft) -> None:
    """Put one node in place of each that has a call for it and those that follow."""
    heavy = [node for node in draft.nodes if node.call is not None and node.call.followed_by is not None]
    if not heavy:
        return
    mortal = find_mortal(draft.nodes)
    alive = [node for node in draft.nodes if node not in mortal and len(node.outputs) == 1]
    first_reader: dict[Value, Node] = {}
    for node in alive:
        for value in node.inputs[:1]:
            first_reader.setdefault(value, node)
    groups = Groups(draft, alive)
    absorbing = {}
    for node in heavy:
        group, call = [node], node.call
        while call is not None and call.followed_by is not None:
            follower = first_reader.get(group[-1].outputs[0])
            if follower is None or not groups.can_be_one([*group, follower]):
                break
            longer = call.followed_by(request_of(follower))
            if longer is None:
                break
            group, call = [*group, follower], longer
        if len(group) > 1 and call is not None:
            absorbing[_one(group, call)] = group
    replace(draft, absorbing)


def _one(group: Sequence[Node], call: Call) -> Node:
    made = {node.outputs[0] for node in group}
    inputs = [value for member in group for value in member.inputs if value not in made]
    return node_of(group, inputs, call, shares=True)
