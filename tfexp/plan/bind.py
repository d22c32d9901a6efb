"""Ask every op for a direct callable of its node: attributes, dtypes, shapes and constants are fixed by now."""

from __future__ import annotations

from tfexp.core.kernel import BindRequest
from tfexp.plan.alias import find_roots
from tfexp.plan.buffers import escaping_roots, last_uses
from tfexp.plan.ir import Draft, Node
from tfexp.plan.mortal import find_mortal


def bind(draft: Draft) -> None:
    """Set `call` where the op's bind rule offers one; other nodes run their kernel."""
    for node in draft.nodes:
        if node.op.bind_rule is not None:
            node.call = node.op.bind_rule(_request(node, ()))
    _bind_updates(draft)


def _bind_updates(draft: Draft) -> None:
    """Ask again for the updates of variables, now that it is known whose memory the inputs are in.

    A gradient is mostly read by its update alone, which may then work in the gradient's own memory.
    """
    roots = find_roots(draft)
    last = last_uses(draft, roots)
    kept = escaping_roots(draft, roots) | find_mortal(draft.nodes)
    for position, node in enumerate(draft.nodes):
        if node.op.bind_rule is None or not any(v.dtype._is_ref_dtype for v in node.inputs):
            continue
        disposable = []
        for value in node.inputs:
            owners = roots[value]
            disposable.append(
                owners == {value}
                and value.node is not None
                and value.constant is None
                and last[value] == position
                and node.inputs.count(value) == 1
                and value not in kept
                and value.node not in kept
                and not any(value in roots[other] for other in node.inputs if other is not value)
            )
        if any(disposable):
            node.call = node.op.bind_rule(_request(node, tuple(disposable)))


def _request(node: Node, disposable: tuple[bool, ...]) -> BindRequest:
    return BindRequest(
        op_type=node.type,
        name=node.name,
        attrs=node.attrs,
        input_dtypes=tuple([v.dtype.base_dtype for v in node.inputs]),
        input_shapes=tuple([v.shape for v in node.inputs]),
        input_values=tuple([v.constant for v in node.inputs]),
        output_dtypes=tuple([v.dtype.base_dtype for v in node.outputs]),
        output_shapes=tuple([v.shape for v in node.outputs]),
        input_disposable=disposable or (False,) * len(node.inputs),
    )
