"""`tensorflow.python.framework.op_def_library`: ops by name, with inputs and attributes by keyword. Source: TF 1.15."""

from __future__ import annotations

import keyword
from typing import Any

from tensorboard.compat.proto.op_def_pb2 import OpList

from tfexp.core.op import all_ops, find_op
from tfexp.graph.op_defs import op_def


def apply_op(op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
    """What the op's own function returns. RuntimeError for an op that there is not, TypeError and ValueError as it.

    A keyword of Python has an underscore behind it (`range_`: the attribute `range`).
    """
    op = find_op(op_type_name)
    if op is None:
        raise RuntimeError(f"Unrecognized Op name {op_type_name}")
    known = {arg.name for arg in op.inputs} | set(op.attrs)
    inferred = {key for arg in op.inputs for key in (arg.type_attr, arg.type_list_attr, arg.number_attr) if key}
    if told := sorted(inferred & keywords.keys()):
        raise TypeError(f"Should not specify value for inferred attr {told[0]!r} of {op_type_name}.")
    given = {}
    for key, value in keywords.items():
        plain = key.removesuffix("_")
        given[plain if key not in known and (plain in known or keyword.iskeyword(plain)) else key] = value
    return op(name=name, **given)


class OpDefLibrary:
    """The ops that are registered."""

    def apply_op(self, op_type_name: str, name: str | None = None, **keywords: Any) -> Any:
        return apply_op(op_type_name, name, **keywords)


def get(name: str) -> Any:
    """The OpDef of that name; None where there is none."""
    op = find_op(name)
    return None if op is None else op_def(op)


def register_op_list(op_list: Any) -> None:
    """Ops are registered with their kernels: a list of declarations adds none. ValueError where one is not there."""
    if missing := [declared.name for declared in op_list.op if find_op(declared.name) is None]:
        raise ValueError(f"There are no ops {missing}")


def get_registered_ops() -> dict[str, Any]:
    """The OpDefs of all ops, by name."""
    return {name: op_def(op) for name, op in all_ops().items()}


def TF_GetAllOpList() -> bytes:
    """The OpDefs of all ops as a serialized OpList, which `TF_GetBuffer` gives."""
    return OpList(op=get_registered_ops().values()).SerializeToString()


def TF_GetBuffer(buffer: bytes) -> bytes:
    """The bytes in what the other functions of `pywrap_tensorflow` give."""
    return buffer
