"""Ask every op for a direct callable of its node: attributes, dtypes, shapes and constants are fixed by now."""

from __future__ import annotations

from tfexp.core.kernel import BindRequest
from tfexp.plan.ir import Draft, Node


def bind(draft: Draft) -> None:
    """Set `call` where the op's bind rule offers one; other nodes run their kernel."""
    for node in draft.nodes:
        if node.op.bind_rule is not None:
            try:
                node.call = node.op.bind_rule(_request(node))
            except (ValueError, TypeError, LookupError, ArithmeticError):
                # Constants that cannot work, such as an axis that is a vector: the kernel says so at run time.
                node.call = None


def _request(node: Node) -> BindRequest:
    return BindRequest(
        op_type=node.type,
        name=node.name,
        attrs=node.attrs,
        input_dtypes=tuple([v.dtype.base_dtype for v in node.inputs]),
        input_shapes=tuple([v.shape for v in node.inputs]),
        input_values=tuple([v.constant for v in node.inputs]),
        output_dtypes=tuple([v.dtype.base_dtype for v in node.outputs]),
        output_shapes=tuple([v.shape for v in node.outputs]),
    )
