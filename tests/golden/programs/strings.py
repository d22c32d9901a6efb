"""Strings: joining, hashing, replacing, decoding."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, runs


@program("O9: strings joined")
def strings_joined(tf: Any) -> Outcome:
    grid = tf.constant([["a", "b"], ["c", "d"]])
    made = [
        tf.reduce_join(grid),
        tf.reduce_join(grid, axis=0, separator="-"),
        tf.reduce_join(grid, [0, 1], name="both"),
        tf.strings.reduce_join(grid, axis=[-1], keepdims=True),
        tf.reduce_join(tf.placeholder_with_default(grid, None)),
        tf.strings.unsorted_segment_join(grid, [1, 1], 3, separator="+"),
    ]
    return runs(Run(made), names=[m.name for m in made])


@program("T6: CSV, raw bytes, serialized tensors")
def decoding(tf: Any) -> Outcome:
    number, word = tf.decode_csv(["1,a", '2,"b,c"', ","], [[5], ["none"]])
    chosen = tf.decode_csv("1;x;NA", [0, [2.5]], field_delim=";", na_value="NA", select_cols=[0, 2], name="chosen")
    made = [
        number,
        word,
        *chosen,
        tf.decode_raw(["abcd"], tf.int16),
        tf.io.decode_raw("abcd", tf.uint16, little_endian=False, name="big"),
        tf.io.decode_compressed(["plain"]),
        tf.parse_tensor(tf.serialize_tensor(tf.constant([1.5, 2.5])), tf.float32),
    ]
    return runs(Run(made), names=[m.name for m in made])
