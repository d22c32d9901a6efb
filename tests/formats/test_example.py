"""tf.train.Example and SequenceExample: TensorFlow's bytes, both ways."""

from __future__ import annotations

import json

import pytest

from tests.golden import format_cases as cases
from tfexp.formats.protos.example import (
    BytesList,
    Example,
    Feature,
    FeatureList,
    FeatureLists,
    Features,
    FloatList,
    Int64List,
    SequenceExample,
)

FACTS = json.loads((cases.FORMATS / "facts.json").read_text(encoding="utf-8"))


def test_example_is_tensorflows() -> None:
    features = {
        "label": Feature(int64_list=Int64List(value=[3, -1])),
        "image": Feature(bytes_list=BytesList(value=[b"\0\xff", b""])),
        "weights": Feature(float_list=FloatList(value=[0.5, -2.0, 1.1])),
        "nothing": Feature(),
    }
    example = Example(features=Features(feature=features))
    assert example.SerializeToString(deterministic=True).hex() == FACTS["example"]
    found = Example.FromString(bytes.fromhex(FACTS["example"])).features.feature
    assert sorted(found) == ["image", "label", "nothing", "weights"]
    assert list(found["label"].int64_list.value) == [3, -1]
    assert list(found["weights"].float_list.value) == pytest.approx([0.5, -2.0, 1.1])
    assert found["nothing"].WhichOneof("kind") is None


def test_sequence_example_is_tensorflows() -> None:
    steps = [Feature(int64_list=Int64List(value=[i])) for i in (5, 7)]
    sequence = SequenceExample(
        context=Features(feature={"id": Feature(bytes_list=BytesList(value=[b"x"]))}),
        feature_lists=FeatureLists(feature_list={"tokens": FeatureList(feature=steps)}),
    )
    assert sequence.SerializeToString(deterministic=True).hex() == FACTS["sequence_example"]
    found = SequenceExample.FromString(bytes.fromhex(FACTS["sequence_example"]))
    assert [f.int64_list.value[0] for f in found.feature_lists.feature_list["tokens"].feature] == [5, 7]


def test_floats_that_another_writer_did_not_pack() -> None:
    unpacked = b"\x12\x0a\x0d\x00\x00\x00\x3f\x0d\x00\x00\x80\xbf"  # two fields of wire type 5 instead of one list
    assert list(Feature.FromString(unpacked).float_list.value) == [0.5, -1.0]
