"""Parsing of `tf.train.SequenceExample`s."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


def _records(tf: Any) -> list[bytes]:
    train = tf.train

    def ints(*values: int) -> Any:
        return train.Feature(int64_list=train.Int64List(value=values))

    def floats(*values: float) -> Any:
        return train.Feature(float_list=train.FloatList(value=values))

    def texts(*values: bytes) -> Any:
        return train.Feature(bytes_list=train.BytesList(value=values))

    def record(context: dict[str, Any], lists: dict[str, list[Any]]) -> bytes:
        steps = {key: train.FeatureList(feature=features) for key, features in lists.items()}
        example = train.SequenceExample(
            context=train.Features(feature=context), feature_lists=train.FeatureLists(feature_list=steps)
        )
        return bytes(example.SerializeToString())

    first = {"a": ints(5), "v": texts(b"x", b"y"), "d": floats(0.5, 1.5)}
    return [
        record(first, {"f": [floats(1, 2), floats(3, 4)], "w": [ints(1), ints(), ints(2, 300)]}),
        record({"a": ints(-6)}, {"f": [floats(5, 6)], "w": [ints()], "g": [texts(b"q"), texts(b"r"), texts(b"s")]}),
    ]


def _features(tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    context = {
        "a": tf.FixedLenFeature([], tf.int64),
        "v": tf.VarLenFeature(tf.string),
        "d": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
    }
    sequences = {
        "f": tf.FixedLenSequenceFeature([2], tf.float32),
        "w": tf.VarLenFeature(tf.int64),
        "g": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    return context, sequences


def _flat(found: dict[str, Any]) -> list[Any]:
    parts = [found[key] for key in sorted(found)]
    return [
        x for part in parts for x in ((part.indices, part.values, part.dense_shape) if hasattr(part, "indices") else (part,))
    ]


@program("T6: one SequenceExample")
def single(tf: Any) -> Outcome:
    context, sequences = _features(tf)
    text, unknown = tf.placeholder(tf.string, []), tf.placeholder(tf.string, None)
    made = [
        *tf.parse_single_sequence_example(text, context, sequences),
        *tf.io.parse_single_sequence_example(unknown, context, example_name="me", name="named"),
    ]
    flat = [x for one in made for x in _flat(one)]
    return runs(*[Run(flat, {text: record, unknown: record}) for record in _records(tf)], names=[x.name for x in flat])


@program("T6: a batch of SequenceExamples")
def batch(tf: Any) -> Outcome:
    context, sequences = _features(tf)
    texts = tf.placeholder(tf.string, [2])
    made = [
        *tf.io.parse_sequence_example(texts, context, sequences),
        *tf.io.parse_sequence_example(texts, None, {"f": sequences["f"]}, example_names=["p", "q"], name="named"),
    ]
    flat = [x for one in made for x in _flat(one)]
    refused = [
        raised(lambda: tf.parse_single_sequence_example(texts[0])),
        raised(lambda: tf.parse_single_sequence_example(texts, context)),
        raised(lambda: tf.parse_single_sequence_example(texts[0], sequences)),
        raised(lambda: tf.parse_single_sequence_example(texts[0], None, context)),
        raised(lambda: tf.parse_single_sequence_example(texts[0], None, {"w": tf.VarLenFeature(None)})),
        raised(lambda: tf.io.parse_sequence_example(texts)),
    ]
    return runs(Run(flat, {texts: _records(tf)}), names=[x.name for x in flat], refused=refused)
