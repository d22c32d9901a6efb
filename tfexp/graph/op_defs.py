"""TensorFlow's OpDef protos of registered ops."""

from __future__ import annotations

from tensorboard.compat.proto import op_def_pb2

from tfexp.core.op import Op
from tfexp.graph import attrs as attr_codec


def op_def(op: Op) -> op_def_pb2.OpDef:
    """An op's signature as TensorFlow's OpDef proto."""
    proto = op_def_pb2.OpDef(
        name=op.name,
        is_stateful=op.is_stateful,
        is_commutative=op.is_commutative,
        is_aggregate=op.is_aggregate,
        allows_uninitialized_input=op.allows_uninitialized_input,
    )
    for args, field in ((op.inputs, proto.input_arg), (op.outputs, proto.output_arg)):
        for arg in args:
            field.add(
                name=arg.name,
                type=arg.dtype.as_datatype_enum if arg.dtype is not None else 0,
                type_attr=arg.type_attr or "",
                number_attr=arg.number_attr or "",
                type_list_attr=arg.type_list_attr or "",
                is_ref=arg.is_ref,
            )
    for attr in op.attrs.values():
        one = proto.attr.add(name=attr.name, type=attr.kind)
        if attr.has_default:
            one.default_value.CopyFrom(attr_codec.to_proto(attr.kind, attr.default))
        if attr.minimum is not None:
            one.has_minimum, one.minimum = True, attr.minimum
        if attr.allowed is not None:
            element = attr.kind[5:-1] if attr.kind.startswith("list(") else attr.kind
            one.allowed_values.CopyFrom(attr_codec.to_proto(f"list({element})", list(attr.allowed)))
    return proto
