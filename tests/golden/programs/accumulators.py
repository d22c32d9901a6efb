"""Conditional accumulators: their graphs, what they hold at each step, what they refuse."""

from __future__ import annotations

from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, raised, runs


@program("D9: dense accumulators")
def dense_accumulators(tf: Any) -> Outcome:
    mean = tf.ConditionalAccumulator(tf.float32, shape=[2], name="mean")
    grad, step = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    with tf.name_scope("scope"):
        total = tf.ConditionalAccumulator(tf.float64, shape=[None, 2], shared_name="total", reduction_type="SUM")
        add = total.apply_grad([[1.0, 2.0]])
    apply, take = mean.apply_grad(grad, local_step=step), mean.take_grad(2)
    many, one = total.take_grad(1, name="taken"), mean.take_grad(1)
    count, forward = mean.num_accumulated(), mean.set_global_step(7)
    steps = [Run([apply], {grad: g, step: s}) for g, s in (([1, 2], 0), ([3, 5], 0), ([4, 4], 9))]
    steps += [Run(count), Run(take), Run(count)]
    steps += [Run([apply], {grad: [3, 5], step: 0}), Run(count), Run([apply], {grad: [3, 5], step: 1}), Run(count)]
    steps += [Run([forward]), Run([apply], {grad: [1, 1], step: 6}), Run([apply], {grad: [5, 7], step: 7}), Run(one)]
    steps += [Run([add]), Run([add]), Run(many), Run(total.num_accumulated(name="left"))]
    return runs(
        *steps,
        names=[mean.name, total.name, apply.name, many.name, count.name, forward.name],
        shapes=[str(t.shape) for t in (take, many, count)],
        refused=[
            raised(lambda: mean.apply_grad([1.0, 2.0, 3.0])),
            raised(lambda: mean.take_grad([1])),
            raised(lambda: tf.ConditionalAccumulator(tf.float32, reduction_type="MAX")),
        ],
    )


@program("D9: sparse accumulators")
def sparse_accumulators(tf: Any) -> Outcome:
    rows = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 2], name="rows")
    free = tf.SparseConditionalAccumulator(tf.float32, reduction_type="SUM")
    indices, values, step = tf.placeholder(tf.int64), tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    apply = rows.apply_grad(indices, values, [5, 2], local_step=step)
    loose = free.apply_grad(indices, values, local_step=step)
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([3]))
    apply_slices = rows.apply_indexed_slices_grad(slices, local_step=1, name="mine")
    take, take_free, count = rows.take_grad(2), free.take_grad(1, name="freely"), rows.num_accumulated()
    taken = rows.take_indexed_slices_grad(1)
    first, second = ([0, 3], [[1, 2], [3, 4]]), ([1, 3], [[1, 2], [3, 4]])
    steps = [Run([apply], {indices: i, values: v, step: 0}) for i, v in (first, second)]
    steps += [Run(list(take)), Run(count), Run([apply_slices]), Run([taken.indices, taken.values, taken.dense_shape])]
    steps += [Run([loose], {indices: i, values: v, step: 0}) for i, v in (first, second)]
    steps += [Run(list(take_free)), Run([loose], {indices: [0, 2], values: [1, 2], step: 1}), Run(list(take_free))]
    steps += [Run([rows.set_global_step(4)]), Run([apply], {indices: [0], values: [[1, 1]], step: 3}), Run(count)]
    return runs(*steps, shapes=[str(t.shape) for t in (*take, taken.indices)], fields=list(take._fields))
