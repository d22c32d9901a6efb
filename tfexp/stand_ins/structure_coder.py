"""`tensorflow.python.saved_model.nested_structure_coder`: structures of specs as messages. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.struct_pb2 import StructuredValue

from tfexp.train.object_models.structures import decode, encode


class NotEncodableError(Exception):
    """A structure has a part that the message has no place for."""


class StructureCoder:
    """Lists, tuples, dicts, named tuples, numbers, strings, shapes, dtypes and specs, to and from `StructuredValue`."""

    def can_encode(self, nested: Any) -> bool:
        try:
            encode(nested)
        except NotImplementedError:
            return False
        return True

    def encode_structure(self, nested_structure: Any) -> StructuredValue:
        try:
            return encode(nested_structure)
        except NotImplementedError as error:
            raise NotEncodableError(
                f"No encoder for object [{nested_structure}] of type [{type(nested_structure)}]."
            ) from error

    def decode_proto(self, proto: StructuredValue) -> Any:
        return decode(proto)
