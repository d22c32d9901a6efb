"""Messages from facts: they have TensorFlow's bytes, and live beside tensorboard's and TensorFlow's classes."""

from __future__ import annotations

import pickle

import pytest
from google.protobuf import text_format
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.compat.proto.versions_pb2 import VersionDef

from tests.golden import oracle
from tfexp.formats.protos import checkpoint_state, example, schema, tensor_bundle


def test_fields_may_be_tensorboards_messages() -> None:
    header = tensor_bundle.BundleHeaderProto(num_shards=2, version=VersionDef(producer=1))
    assert header.SerializeToString() == b"\x08\x02\x1a\x02\x08\x01"
    assert text_format.MessageToString(tensor_bundle.BundleHeaderProto(endianness="BIG")) == "endianness: BIG\n"
    shape = TensorShapeProto()
    shape.dim.add(size=7)
    assert tensor_bundle.BundleEntryProto(dtype=1, shape=shape).shape.dim[0].size == 7


def test_a_oneof_tells_zero_from_nothing() -> None:
    part = tensor_bundle.TensorSliceProto()
    part.extent.add()
    part.extent.add(length=0)
    assert [e.HasField("length") for e in part.extent] == [False, True]
    feature = example.Feature(int64_list=example.Int64List(value=[1]))
    feature.float_list.value.append(2.0)
    assert feature.WhichOneof("kind") == "float_list"


def test_messages_travel_between_processes() -> None:
    state = checkpoint_state.CheckpointState(model_checkpoint_path="m")
    assert pickle.loads(pickle.dumps(state)) == state


def test_a_line_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match="message Broken: cannot read the field 'a 1 int33'"):
        schema.define("broken_for_a_test", "message Broken\n a 1 int33")


@pytest.mark.skipif(not oracle.is_installed(), reason="needs TensorFlow's descriptors in the process")
def test_beside_tensorflow() -> None:
    tf = oracle.tensorflow()
    ours = example.Example()
    ours.features.feature["x"].int64_list.value.extend([3, 5])
    theirs = tf.train.Example.FromString(ours.SerializeToString())
    assert list(theirs.features.feature["x"].int64_list.value) == [3, 5]
    for name in ("Example", "SequenceExample", "Features", "FeatureLists"):
        fields = {f.name: f.number for f in getattr(tf.train, name).DESCRIPTOR.fields}
        assert {f.name: f.number for f in getattr(example, name).DESCRIPTOR.fields} == fields
