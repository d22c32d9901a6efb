"""Serialized protocol buffers taken apart and put together in the graph."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs

KINDS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "message", "bytes", "uint32",
         "enum", "sfixed32", "sfixed64", "sint32", "sint64")  # fmt: skip


def described(syntax: str = "proto2") -> Any:
    """The description of a message with fields of every kind, repeated (from 101 on) and not."""
    descriptor = importlib.import_module("google.protobuf.descriptor_pb2")
    kinds = descriptor.FieldDescriptorProto
    file = descriptor.FileDescriptorProto(name=f"{syntax}.proto", package="p", syntax=syntax)
    file.enum_type.add(name="E").value.add(name="A", number=0)
    message = file.message_type.add(name="M")
    message.nested_type.add(name="N").field.add(name="a", number=1, type=kinds.TYPE_INT32, label=1)
    for kind in KINDS:
        number = getattr(kinds, f"TYPE_{kind.upper()}")
        type_name = {"message": ".p.M.N", "enum": ".p.E"}.get(kind)
        for label, name, place in ((1, kind, number), (3, f"{kind}s", number + 100)):
            message.field.add(name=name, number=place, type=number, label=label, type_name=type_name)
    if syntax == "proto2":
        packed = message.field.add(name="packed", number=300, type=kinds.TYPE_INT32, label=3)
        packed.options.packed = True
        message.field.add(name="seven", number=301, type=kinds.TYPE_INT32, label=1, default_value="7")
        message.field.add(name="hey", number=302, type=kinds.TYPE_STRING, label=1, default_value="hey")
    return file


def source(file: Any) -> bytes:
    """It as a descriptor source."""
    descriptor = importlib.import_module("google.protobuf.descriptor_pb2")
    return b"bytes://" + descriptor.FileDescriptorSet(file=[file]).SerializeToString(deterministic=True)


def written(file: Any, text: str) -> bytes:
    """A message of the type, from its text."""
    pools, factory, text_format = (
        importlib.import_module(f"google.protobuf.{name}") for name in ("descriptor_pool", "message_factory", "text_format")
    )
    pool = pools.DescriptorPool()
    pool.Add(file)
    kind = factory.GetMessageClass(pool.FindMessageTypeByName("p.M"))
    encoded: bytes = text_format.Parse(text, kind()).SerializeToString(deterministic=True)
    return encoded


@program("issue 4.1: decode_proto")
def apart(tf: Any) -> Outcome:
    file = described()
    messages = [
        written(
            file,
            "int32: 3 int32s: [1, 2, -3] packed: [5, 6] string: 'x' strings: ['u', 'vv'] uint64: 9223372036854775813 "
            "uint32: 4294967295 sint32: -4 enum: A bool: true doubles: [1.5, 2.5] message {a: 4} messages {a: 1} "
            "messages {} floats: 2",
        ),
        written(file, "packed: 9 int64: -5 fixed32s: 7 sfixed64: -8 bytess: '\\377'"),
        b"",
        written(file, "int32: 1 message {a: 1} hey: ''") + written(file, "int32: 2 message {}"),
    ]
    chosen = {
        "int32": tf.int32,
        "int32s": tf.int64,
        "packed": tf.int32,
        "seven": tf.int32,
        "string": tf.string,
        "hey": tf.string,
        "strings": tf.string,
        "uint64": tf.uint64,
        "uint32": tf.uint32,
        "sint32": tf.int64,
        "enum": tf.int32,
        "bool": tf.bool,
        "doubles": tf.float64,
        "message": tf.string,
        "messages": tf.string,
        "floats": tf.float64,
        "float": tf.float32,
        "int64": tf.int64,
        "fixed32s": tf.uint64,
        "sfixed64": tf.int64,
        "bytess": tf.string,
        "fixed64s": tf.uint64,
    }
    made = tf.io.decode_proto(messages, "p.M", list(chosen), list(chosen.values()), source(file), name="apart")
    texts = [[b"int32s: 3 int32s: 4"], [b"int32: 5"]]
    read = tf.io.decode_proto(texts, "p.M", ["int32s", "seven"], [tf.int32] * 2, source(file), message_format="text")
    clean = tf.io.decode_proto(messages[3], "p.M", ["message"], [tf.string], source(file), sanitize=True)
    example = b"\n\x0e\n\x0c\n\x01b\x12\x07\x1a\x05\n\x03\x01\x02\x03"
    local = tf.io.decode_proto([example], "tensorflow.Example", ["features"], [tf.string])
    none = tf.io.decode_proto(messages, "p.M", [], [], source(file))
    fetches = [part.sizes for part in (made, read, clean, local)]
    return runs(
        Run([*fetches, none[0] if isinstance(none, list) else none.sizes, *made.values]),
        Run([*read.values, *clean.values, *local.values]),
    )


@program("issue 4.1: encode_proto")
def together(tf: Any) -> Outcome:
    made = []
    for syntax in ("proto2", "proto3"):
        encoded = source(described(syntax))
        sizes = [[1, 2, 1, 0, 1], [0, 1, 1, 2, 0]]
        values = [
            np.int32([[3], [0]]),
            np.int64([[1, -2], [3, 4]]),
            [[b"\x08\x01"], [b""]],
            np.float32([[1, 2], [3, 4]]),
            [[b"abc"], [b"d"]],
        ]
        made.append(tf.io.encode_proto(sizes, values, ["int32", "int32s", "message", "floats", "string"], "p.M", encoded))
        made.append(tf.io.encode_proto([[2]], [np.int32([[3, 4]])], ["int32"], "p.M", encoded, name="twice"))
        made.append(tf.io.encode_proto([[1, 1, -1]], [[[True]], [[7]], [[1]]], ["bool", "sint32", "enum"], "p.M", encoded))
    return runs(Run(made))
