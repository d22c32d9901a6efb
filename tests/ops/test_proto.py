"""What decode_proto and encode_proto refuse, and where they find types; tests/golden/programs/protos.py has their values."""

from __future__ import annotations

import numpy as np
import pytest

import tfexp as tf
from tests.golden.programs.protos import described, source, written
from tfexp.core.errors import DataLossError, InvalidArgumentError

FILE = described()
SOURCE = source(FILE)


def decoded(message=b"", name="int32", dtype=tf.int32, message_type="p.M", descriptor_source=SOURCE, **options):
    with tf.Graph().as_default(), tf.Session() as session:
        found = tf.io.decode_proto([message], message_type, [name], [dtype], descriptor_source, **options)
        return session.run([found.sizes, *found.values])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "nope"}, "Unknown field: nope in message type p.M, which has double, doubles, float"),
        ({"dtype": tf.float32}, "Unexpected output type for p.M.int32: int32 to float32; int32 goes with int32 or int64"),
        ({"message_type": "p.Q"}, "No descriptor found for message type p.Q in descriptor source 'bytes://"),
        ({"descriptor_source": "nothing/here"}, "'nothing/here' is neither local:// nor the path of a serialized"),
        ({"descriptor_source": b"bytes://no"}, "is neither local:// nor the path of a serialized FileDescriptorSet"),
        ({"message_format": "json"}, "format must be one of binary or text, got 'json'"),
    ],
)
def test_what_cannot_be_decoded_is_said(arguments, message):
    with pytest.raises(InvalidArgumentError) as caught:
        decoded(**arguments)
    assert message in caught.value.message


def test_broken_messages_are_lost_data():
    for broken, options in ((b"\x08", {}), (b"\x08", {"sanitize": True}), (b"int32: %", {"message_format": "text"})):
        with pytest.raises(DataLossError, match=r"Unable to parse .* protobuf of type p\.M"):
            decoded(broken, **options)


def test_types_are_found_in_files_and_in_the_process(tmp_path):
    path = tmp_path / "types.pb"
    path.write_bytes(SOURCE.removeprefix(b"bytes://"))
    message = written(FILE, "int32: 5")
    assert decoded(message, descriptor_source=str(path))[1].tolist() == [[5]]
    node = tf.NodeDef(name="a", op="NoOp")
    graph = tf.GraphDef(node=[node, node]).SerializeToString()
    sizes, nodes = decoded(graph, "node", tf.string, "tensorflow.GraphDef", "local://")
    assert sizes.tolist() == [[2]]
    assert nodes.tolist() == [[node.SerializeToString()] * 2]


def test_types_within_types_are_found():
    nested = described()
    nested.message_type[0].nested_type.add(name="Inner").field.add(name="n", number=2, type=5, label=1)
    found = decoded(b"\x10\x07", "n", message_type="p.M.Inner", descriptor_source=source(nested))
    assert found[1].tolist() == [[7]]


def encoded(sizes, values, names):
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.io.encode_proto(sizes, values, names, "p.M", SOURCE))


@pytest.mark.parametrize(
    ("sizes", "names", "message"),
    [
        ([[3]], ["int32s"], "Size to write must not be larger than value tensor; but saw: 3 > 2 at message 0 field int32s"),
        ([[1]], ["float"], "Incompatible type for field p.M.float: int32 for float; float goes with float32 or float64"),
        ([[1]], ["nope"], "Unknown field: nope in message type p.M"),
        ([[1, 1]], ["int32"], "sizes should be batch_size + [len(field_names)]. Saw: [1,2] but expected: [1,1]"),
        ([[1]], ["int32", "int64"], "Length of inputs list must match field_names, got 1 and 2"),
    ],
)
def test_what_cannot_be_encoded_is_said(sizes, names, message):
    with pytest.raises(InvalidArgumentError) as caught:
        encoded(sizes, [np.int32([[3, 4]])], names)
    assert message in caught.value.message


def test_a_message_comes_back():
    values = [np.float64([[0.5, 1.5], [2.5, 0]]), np.array([[b"a"], [b"b"]], object)]
    messages = encoded([[2, 1], [1, 1]], values, ["doubles", "bytes"])
    assert decoded(messages[0], "doubles", tf.float64)[1].tolist() == [[0.5, 1.5]]
    assert decoded(messages[1], "bytes", tf.string)[1].tolist() == [[b"b"]]
