"""The attributes of a node that is described as TensorFlow's own `Graph.create_op` takes it: by AttrValue protos.

What the inputs say (types, and how many there are) need not be given. Source: `tf.Graph.create_op`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from tfexp.core.op import Op
from tfexp.graph import attrs as attr_codec
from tfexp.graph.tensor import Tensor


def checked_inputs(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs; TypeError for one that is no tensor."""
    for position, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise TypeError(f"Input #{position} is not a tensor: {value!r}")
    return list(inputs)


def native_attrs(op: Op, inputs: Sequence[Tensor], protos: Mapping[str, AttrValue] | None) -> dict[str, Any]:
    """Native values of all attributes of `op`: those given, those that the inputs tell, and defaults.

    ValueError, naming the op, for one that is none of these, and where the inputs are not as many as the signature takes.
    """
    given = {name: attr_codec.from_proto(value)[1] for name, value in (protos or {}).items()}
    attrs = {**_told_by(op, inputs, given), **given}
    for name, declared in op.attrs.items():
        if name not in attrs:
            if not declared.has_default:
                raise ValueError(
                    f"NodeDef missing attr {name!r} from Op<name={op.name}>: neither given nor told by its inputs"
                )
            attrs[name] = list(declared.default) if isinstance(declared.default, list) else declared.default
    return attrs


def _told_by(op: Op, inputs: Sequence[Tensor], given: Mapping[str, Any]) -> dict[str, Any]:
    """The types and numbers of the inputs, by the attributes that the signature has for them."""
    told: dict[str, Any] = {}
    position = 0
    for place, arg in enumerate(op.inputs):
        others = sum(not later.is_list for later in op.inputs[place + 1 :])
        count = 1
        if arg.is_list:
            rest = len(inputs) - position - others
            key = arg.number_attr or arg.type_list_attr or ""
            known = given.get(key, told.get(key))
            count = rest if known is None else known if arg.number_attr else len(known)
            if arg.number_attr:
                told[key] = count
        own = [tensor.dtype.base_dtype for tensor in inputs[position : position + count]]
        position += count
        if arg.type_list_attr:
            told[arg.type_list_attr] = own
        elif arg.type_attr and own:
            told.setdefault(arg.type_attr, own[0])
    if position != len(inputs):
        raise ValueError(f"Op {op.name!r} takes {position} inputs, not {len(inputs)}: {[tensor.name for tensor in inputs]}")
    return told
