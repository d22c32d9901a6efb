"""Ragged tensors: the ops of their own that functions of them make."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs


@program("issue 4.1: tf.ragged.range")
def ranges(tf: Any) -> Outcome:
    made = [
        tf.ragged.range([3, 0, 5], [7, 0, 9]),
        tf.ragged.range([3, 5, 8]),
        tf.ragged.range(4, name="one"),
        tf.ragged.range([0.0, 1.0], [1.0, 2.5], 0.5),
        tf.ragged.range([3, 9], [7, 2], [2, -3], row_splits_dtype=tf.int32),
    ]
    return runs(Run([part for ragged in made for part in (ragged.values, ragged.row_splits)]))


@program("issue 4.1: raw ops of ragged tensors")
def raw(tf: Any) -> Outcome:
    gather, to_sparse = tf.raw_ops.RaggedGather, tf.raw_ops.RaggedTensorToSparse
    outer, inner = np.int64([0, 2, 2, 3]), np.int64([0, 1, 2, 4])
    values = tf.placeholder(tf.float32, [None, 2], name="values")
    deep = {"params_nested_splits": [outer, inner], "params_dense_values": values}
    flat = {"params_nested_splits": [outer], "params_dense_values": values[:3]}
    gathered = [
        gather(**deep, indices=[2, 0, 0], OUTPUT_RAGGED_RANK=2),
        gather(**flat, indices=[[2, 0], [1, 1]], OUTPUT_RAGGED_RANK=2),
        gather(**flat, indices=0, OUTPUT_RAGGED_RANK=0),
    ]
    sparse = [
        to_sparse(rt_nested_splits=[outer, inner], rt_dense_values=values),
        to_sparse(rt_nested_splits=[outer], rt_dense_values=[b"a", b"b", b"c"]),
        to_sparse(rt_nested_splits=[tf.constant([0])], rt_dense_values=np.zeros([0, 3])),
    ]
    fetches = [part for found in gathered for part in (*found.output_nested_splits, found.output_dense_values)]
    fetches += [part for found in sparse for part in found]
    squares = tf.square(gathered[0].output_dense_values), tf.square(sparse[0].sparse_values)
    return runs(Run([*fetches, *tf.gradients(squares, values)], {values: np.float32(np.arange(8).reshape(4, 2))}))
