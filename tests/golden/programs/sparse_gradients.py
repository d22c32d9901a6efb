"""Sparse gradients (IndexedSlices) that meet the gradients of dense ops, and what those make of them.

Each case gathers rows of `f(x, y)`; the gradient of the gather is sparse, and flows on through `f`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.golden.programs.registry import Outcome, Run, program, register, runs, values

SOURCE = "O6, O8"

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "neg": lambda tf, x, y: -x,
    "add": lambda tf, x, y: x + y,
    "add_row": lambda tf, x, y: x + y[0],
    "sub": lambda tf, x, y: x - y,
    "mul": lambda tf, x, y: x * y,
    "mul_constant": lambda tf, x, y: x * 3.0,
    "div": lambda tf, x, y: x / (y + 2.0),
    "maximum": lambda tf, x, y: tf.maximum(x, y),
    "square": lambda tf, x, y: tf.square(x),
    "tanh": lambda tf, x, y: tf.tanh(x),
    "identity": lambda tf, x, y: tf.identity(x),
    "transpose": lambda tf, x, y: tf.transpose(x),
    "matmul": lambda tf, x, y: tf.matmul(x, y, transpose_b=True),
    "concat_rows": lambda tf, x, y: tf.concat([x, y], 0),
    "concat_columns": lambda tf, x, y: tf.concat([x, y], 1),
    "concat_last": lambda tf, x, y: tf.concat([x, y], -1),
    "stack": lambda tf, x, y: tf.stack([x, y]),
    "reshape": lambda tf, x, y: tf.reshape(x, [5, 3, 1]),
    "reduce_sum": lambda tf, x, y: tf.reduce_sum(x, 1),
    "reduce_max": lambda tf, x, y: tf.reduce_max(x, 1, keepdims=True),
    "gather": lambda tf, x, y: tf.gather(x, [4, 1, 1, 0, 2]),
    "split": lambda tf, x, y: tf.split(x, 3, 1)[1],
    "cast": lambda tf, x, y: tf.cast(x, tf.float64),
    "clip": lambda tf, x, y: tf.clip_by_value(x, -0.5, 0.5),
    "where": lambda tf, x, y: tf.where(x > y, x, y),
}


def _build(tf: Any, function: Callable[..., Any], dtype: Any) -> Outcome:
    x = tf.Variable(values("spax", 5, 3), name="x")
    y = tf.Variable(values("spay", 5, 3), name="y")
    rows = tf.gather(function(tf, x, y), tf.constant([1, 0, 1], dtype))
    gradients = [g for g in tf.gradients(rows, [x, y]) if g is not None]
    sparse = [isinstance(g, tf.IndexedSlices) for g in gradients]
    tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(rows))
    return runs(Run(tf.global_variables_initializer()), Run(gradients, rtol=1e-4), sparse=sparse)


for _name, _function in FUNCTIONS.items():
    register("sparse_gradients", _name, SOURCE, lambda tf, f=_function: _build(tf, f, tf.int32))
register("sparse_gradients", "concat_rows_int64", SOURCE, lambda tf: _build(tf, FUNCTIONS["concat_rows"], tf.int64))


@program(SOURCE)
def arithmetic_of_slices(tf: Any) -> Outcome:
    slices = tf.IndexedSlices(tf.constant([[1.0, 2.0]]), tf.constant([1]), tf.constant([3, 2]))
    two = tf.constant(2.0)
    made = [two * slices, slices * two, two + slices, two - slices, two / slices, -slices, tf.negative(slices)]
    made += [tf.zeros_like(slices), tf.transpose(slices, [1, 0]), tf.transpose(slices), tf.reduce_sum(slices)]
    made += [tf.scalar_mul(3.0, slices), tf.convert_to_tensor(slices), tf.identity(slices)]
    return runs(Run(made), sparse=[isinstance(m, tf.IndexedSlices) for m in made])
