"""Ask every op for a direct callable of its node: attributes, dtypes, shapes and constants are fixed by now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tfexp.core.kernel import BindRequest, Call
from tfexp.plan.ir import Draft, Node

Libraries = Mapping[str, Any]
"""What may compute nodes beside NumPy, the first choice first: what rules are called with, by the name that they are for."""


def bind(draft: Draft, libraries: Libraries) -> None:
    """Set `call` where one of the op's bind rules offers one, a library's first; other nodes run their kernel.

    Nodes that a pass has made have their calls.
    """
    for node in draft.nodes:
        if node.call is not None:
            continue
        try:
            node.call = next((call for call in _offers(node, libraries) if call is not None), None)
        except (ValueError, TypeError, LookupError, ArithmeticError):
            # Constants that cannot work, such as an axis that is a vector: the kernel says so at run time.
            node.call = None


def _offers(node: Node, libraries: Libraries) -> Iterator[Call | None]:
    for name, library in libraries.items():
        if name in node.op.library_rules:
            yield node.op.library_rules[name](library, request_of(node))
    if node.op.bind_rule is not None:
        yield node.op.bind_rule(request_of(node))


def request_of(node: Node) -> BindRequest:
    """What a rule may know of the node."""
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
