"""Parsing of `tf.train.Example`s."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs

# Two Examples: a (two floats), b (three integers, none), c (a text).
FIRST = (
    b"\n1\n\x0c\n\x01b\x12\x07\x1a\x05\n\x03\x01\x02\x03\n\x0e\n\x01c\x12\t\n\x07\n\x05first\n\x11\n\x01a\x12\x0c\x12\n\n\x08"
    b"\x00\x00\x80?\x00\x00\x00@"
)
SECOND = (
    b"\n*\n\x05\n\x01b\x12\x00\n\x0e\n\x01c\x12\t\n\x07\n\x05other\n\x11\n\x01a\x12\x0c\x12\n\n\x08\x00\x00@@\x00\x00\x80@"
)


@program("T6: dense features of Examples")
def dense_features(tf: Any) -> Outcome:
    features = {
        "a": tf.FixedLenFeature([2], tf.float32),
        "c": tf.FixedLenFeature([], tf.string),
        "b": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "d e/f": tf.FixedLenFeature([2, 1], tf.int64, [[5], [6]]),
        "g": tf.FixedLenFeature([], tf.string, "none"),
        "h": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
    }
    parsed = [
        tf.parse_example([FIRST, SECOND], features),
        tf.io.parse_example(tf.constant([FIRST, SECOND]), features, name="named", example_names=["first", "second"]),
        tf.parse_single_example(FIRST, features),
        tf.io.parse_single_example(tf.placeholder_with_default(FIRST, None), features, name="single"),
    ]
    made = [one[key] for one in parsed for key in sorted(one)]
    return runs(Run(made), names=[m.name for m in made])


@program("T6: a feature of any length, filled up")
def padded_features(tf: Any) -> Outcome:
    features = {
        "a": tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True, default_value=9.0),
        "b": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
    }
    parsed = tf.parse_example([FIRST, SECOND], features)
    made = [parsed["a"], parsed["b"]]
    return runs(Run(made), names=[m.name for m in made])


@program("T6: sparse tensors of several features")
def composite_features(tf: Any) -> Outcome:
    int64s, floats = tf.train.Int64List, tf.train.FloatList

    def example(rows: list[int], columns: list[int], values: list[float]) -> bytes:
        """Features `i`, `j` and `v`."""
        found = {
            "i": tf.train.Feature(int64_list=int64s(value=rows)),
            "j": tf.train.Feature(int64_list=int64s(value=columns)),
            "v": tf.train.Feature(float_list=floats(value=values)),
        }
        # Maps are written in no certain order; their parts are.
        parts = [tf.train.Example(features=tf.train.Features(feature={key: found[key]})) for key in sorted(found)]
        return b"".join(part.SerializeToString() for part in parts)

    texts = [example([2, 0], [1, 0], [1.5, 2.5]), example([1], [3], [-4.0])]
    features = {
        "line": tf.SparseFeature("i", "v", tf.float32, 5),
        "plane": tf.SparseFeature(["i", "j"], "v", tf.float32, [5, 4]),
        "sorted": tf.SparseFeature(index_key="i", value_key="v", dtype=tf.float32, size=5, already_sorted=True),
        "v": tf.VarLenFeature(tf.float32),
    }
    fed = [tf.placeholder_with_default(texts, [2]), tf.placeholder_with_default(texts[0], [])]
    parsed = [tf.parse_example(fed[0], features), tf.parse_single_example(fed[1], features)]
    made = [part for one in parsed for key in sorted(one) for part in (one[key].indices, one[key].values)]
    refused = [
        raised(lambda: tf.parse_example(texts, {"x": tf.SparseFeature("", "v", tf.float32, 5)})),
        raised(lambda: tf.parse_example(texts, {"x": tf.SparseFeature("i", "v", None, 5)})),
        raised(lambda: tf.parse_example(texts, {"x": tf.SparseFeature("v", "v", tf.float32, 5)})),
    ]
    return runs(Run(made), names=[m.name for m in made], keys=sorted(parsed[0]), refused=refused)
