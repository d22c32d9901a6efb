"""Gradients, and gradients of gradients, of the common ops: each case, one line of a table, is one program.

A case feeds placeholders, builds `y = f(*xs)`, then `tf.gradients(y, xs)` and the gradients of the sum of
squares of those; a case marked dynamic is also made of placeholders of unknown sizes, for which TensorFlow
makes other nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, register, runs, values

Shape = Sequence[int]
SOURCE = "issue 2.2, gradients"


def case(
    name: str,
    shapes: Sequence[Shape],
    function: Callable[..., Any],
    *,
    low: float = -1.0,
    high: float = 1.0,
    dynamic: bool = False,
    second: bool = True,
) -> None:
    """Registers the program `gradients.name`; with `dynamic` also `gradients.name_dynamic`."""

    def build(tf: Any, known: bool = True) -> Outcome:
        arrays = [values(f"{name}{i}", *shape, low=low, high=high) for i, shape in enumerate(shapes)]
        inputs = [
            tf.placeholder(tf.float32, shape if known else [None] * len(shape), name=f"x{i}")
            for i, shape in enumerate(shapes)
        ]
        y = function(tf, *inputs)
        feeds = dict(zip(inputs, arrays, strict=True))
        first = tf.gradients(y, inputs)
        steps = [Run([y, *[g for g in first if g is not None]], feeds, rtol=1e-4, atol=1e-5)]
        if second:
            dense = [g.values if isinstance(g, tf.IndexedSlices) else g for g in first if g is not None]
            squares = [tf.reduce_sum(tf.square(g)) for g in dense]
            again = tf.gradients(squares, inputs)
            present = [g for g in again if g is not None]
            steps += [Run(present, feeds, rtol=1e-3, atol=1e-4)] if present else []
            return runs(*steps, none=[[g is None for g in first], [g is None for g in again]])
        return runs(*steps, none=[g is None for g in first])

    register("gradients", name, SOURCE, build)
    if dynamic:
        register("gradients", f"{name}_dynamic", SOURCE, lambda tf: build(tf, known=False))


# Arithmetic, broadcast on the left, the right, both and neither.
case("add_same", [(2, 3), (2, 3)], lambda tf, x, y: x + y, dynamic=True)
case("add_row", [(2, 3), (3,)], lambda tf, x, y: tf.add(x, y), dynamic=True)
case("add_operator_row", [(3,), (2, 3)], lambda tf, x, y: x + y)
case("sub_column", [(2, 3), (2, 1)], lambda tf, x, y: x - y, dynamic=True)
case("subtract_scalar", [(2, 3), ()], lambda tf, x, y: tf.subtract(x, y))
case("mul_same", [(2, 3), (2, 3)], lambda tf, x, y: x * y, dynamic=True)
case("mul_both", [(2, 1, 5), (3, 1)], lambda tf, x, y: tf.multiply(x, y), dynamic=True)
case("mul_constant", [(2, 3)], lambda tf, x: 3.0 * x)
case("mul_itself", [(2, 3)], lambda tf, x: x * x)
case("div_row", [(2, 3), (3,)], lambda tf, x, y: x / y, low=0.5, high=2.0, dynamic=True)
case("divide_same", [(2, 3), (2, 3)], lambda tf, x, y: tf.divide(x, y), low=0.5, high=2.0)
case("div_op", [(2, 3), (2, 3)], lambda tf, x, y: tf.div(x, y), low=0.5, high=2.0)
case("floordiv", [(2, 3), (3,)], lambda tf, x, y: tf.floordiv(x, y), low=0.5, high=2.0)
case("floormod", [(2, 3), (3,)], lambda tf, x, y: tf.floormod(x, y), low=0.5, high=2.0)
case("pow_both", [(2, 3), (3,)], lambda tf, x, y: tf.pow(x, y), low=0.5, high=2.0, dynamic=True)
case("pow_constant", [(2, 3)], lambda tf, x: x**3.0, low=0.5, high=2.0)
case("maximum_row", [(2, 3), (3,)], lambda tf, x, y: tf.maximum(x, y), dynamic=True)
case("minimum_scalar", [(2, 3), ()], lambda tf, x, y: tf.minimum(x, y), dynamic=True)
case("squared_difference", [(2, 3), (3,)], lambda tf, x, y: tf.squared_difference(x, y), dynamic=True)
case("add_n", [(2, 3), (2, 3), (2, 3)], lambda tf, x, y, z: tf.add_n([x, y, z]))
case("atan2", [(2, 3), (3,)], lambda tf, x, y: tf.atan2(x, y), low=0.5, high=2.0)

# One argument.
UNARY = {
    "negative": lambda tf, x: -x,
    "abs": lambda tf, x: tf.abs(x),
    "sign": lambda tf, x: tf.sign(x),
    "square": lambda tf, x: tf.square(x),
    "sqrt": lambda tf, x: tf.sqrt(x),
    "rsqrt": lambda tf, x: tf.rsqrt(x),
    "exp": lambda tf, x: tf.exp(x),
    "expm1": lambda tf, x: tf.expm1(x),
    "log": lambda tf, x: tf.log(x),
    "log1p": lambda tf, x: tf.log1p(x),
    "reciprocal": lambda tf, x: tf.reciprocal(x),
    "sin": lambda tf, x: tf.sin(x),
    "cos": lambda tf, x: tf.cos(x),
    "tan": lambda tf, x: tf.tan(x),
    "asin": lambda tf, x: tf.asin(x),
    "acos": lambda tf, x: tf.acos(x),
    "atan": lambda tf, x: tf.atan(x),
    "sinh": lambda tf, x: tf.sinh(x),
    "cosh": lambda tf, x: tf.cosh(x),
    "tanh": lambda tf, x: tf.tanh(x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "log_sigmoid": lambda tf, x: tf.log_sigmoid(x),
    "floor": lambda tf, x: tf.floor(x),
    "ceil": lambda tf, x: tf.ceil(x),
    "round": lambda tf, x: tf.round(x),
    "erf": lambda tf, x: tf.erf(x),
    "relu": lambda tf, x: tf.nn.relu(x),
    "relu6": lambda tf, x: tf.nn.relu6(x),
    "elu": lambda tf, x: tf.nn.elu(x),
    "selu": lambda tf, x: tf.nn.selu(x),
    "crelu": lambda tf, x: tf.nn.crelu(x),
    "leaky_relu": lambda tf, x: tf.nn.leaky_relu(x),
    "softplus": lambda tf, x: tf.nn.softplus(x),
    "softsign": lambda tf, x: tf.nn.softsign(x),
    "identity": lambda tf, x: tf.identity(x),
    "zeros_like": lambda tf, x: x + tf.zeros_like(x),
    "ones_like": lambda tf, x: x * tf.ones_like(x),
    "l2_loss": lambda tf, x: tf.nn.l2_loss(x),
    "l2_normalize": lambda tf, x: tf.nn.l2_normalize(x, 1),
    "clip_by_value": lambda tf, x: tf.clip_by_value(x, 0.3, 0.7),
    "clip_by_norm": lambda tf, x: tf.clip_by_norm(x, 0.9),
    "clip_by_norm_axes": lambda tf, x: tf.clip_by_norm(x, 0.5, axes=[1]),
    "clip_by_average_norm": lambda tf, x: tf.clip_by_average_norm(x, 0.05),
    "global_norm": lambda tf, x: tf.global_norm([x, 2.0 * x]),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "log_softmax": lambda tf, x: tf.nn.log_softmax(x),
    "softmax_axis": lambda tf, x: tf.nn.softmax(x, axis=0),
    "check_numerics": lambda tf, x: tf.check_numerics(x, "bad"),
    "moments": lambda tf, x: tf.add_n(list(tf.nn.moments(x, [0]))),
    "cumsum": lambda tf, x: tf.cumsum(x, axis=1),
    "cumprod": lambda tf, x: tf.cumprod(x, axis=1),
}
NO_SECOND = {"softsign"}
for _name, _function in UNARY.items():
    case(_name, [(2, 3)], _function, low=0.1, high=0.9, second=_name not in NO_SECOND)
case("softmax_rank3", [(2, 3, 5)], lambda tf, x: tf.nn.softmax(x), dynamic=True)

# Matrix products.
case("matmul", [(2, 3), (3, 5)], lambda tf, x, y: tf.matmul(x, y), dynamic=True)
case("matmul_ta", [(3, 2), (3, 5)], lambda tf, x, y: tf.matmul(x, y, transpose_a=True))
case("matmul_tb", [(2, 3), (5, 3)], lambda tf, x, y: tf.matmul(x, y, transpose_b=True))
case("matmul_ta_tb", [(3, 2), (5, 3)], lambda tf, x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True))
case("matmul_batch", [(7, 2, 3), (7, 3, 5)], lambda tf, x, y: tf.matmul(x, y), dynamic=True)
case("matmul_batch_broadcast", [(7, 2, 3), (3, 5)], lambda tf, x, y: tf.matmul(x, y))
case("matmul_batch_adjoint", [(7, 3, 2), (7, 3, 5)], lambda tf, x, y: tf.matmul(x, y, adjoint_a=True))
case("matmul_operator", [(2, 3), (3, 5)], lambda tf, x, y: x @ y)
case("matrix_inverse", [(3, 3)], lambda tf, x: tf.matrix_inverse(x + 3.0 * np.eye(3, dtype=np.float32)))
case("tensordot", [(2, 3, 5), (5, 3, 7)], lambda tf, x, y: tf.tensordot(x, y, [[1, 2], [1, 0]]))
case("bias_add", [(2, 3), (3,)], lambda tf, x, y: tf.nn.bias_add(x, y))
case("bias_add_rank4", [(2, 3, 5, 7), (7,)], lambda tf, x, y: tf.nn.bias_add(x, y))
case("xw_plus_b", [(2, 3), (3, 5), (5,)], lambda tf, x, w, b: tf.nn.xw_plus_b(x, w, b))
case("relu_layer", [(2, 3), (3, 5), (5,)], lambda tf, x, w, b: tf.nn.relu_layer(x, w, b))

# Reductions.
for _name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"):
    _second = _name != "reduce_prod"
    case(f"{_name}_all", [(2, 3)], lambda tf, x, n=_name: getattr(tf, n)(x), dynamic=True, second=_second)
    case(
        f"{_name}_axis",
        [(2, 3, 5)],
        lambda tf, x, n=_name: getattr(tf, n)(x, axis=1),
        dynamic=True,
        second=_second,
    )
    case(
        f"{_name}_axes_keepdims",
        [(2, 3, 5)],
        lambda tf, x, n=_name: getattr(tf, n)(x, axis=[0, -1], keepdims=True),
        dynamic=True,
        second=_second,
    )
case("reduce_logsumexp", [(2, 3)], lambda tf, x: tf.reduce_logsumexp(x, axis=1))
case("segment_sum", [(5, 3)], lambda tf, x: tf.segment_sum(x, [0, 0, 1, 2, 2]))
case("unsorted_segment_sum", [(5, 3)], lambda tf, x: tf.unsorted_segment_sum(x, [2, 0, 1, 0, 2], 3))

# Shapes.
case("reshape", [(2, 3)], lambda tf, x: tf.reshape(x, [-1, 2]), dynamic=True)
case("transpose", [(2, 3)], lambda tf, x: tf.transpose(x), dynamic=True)
case("transpose_perm", [(2, 3, 5)], lambda tf, x: tf.transpose(x, [1, 2, 0]))
case("concat", [(2, 3), (5, 3)], lambda tf, x, y: tf.concat([x, y], 0), dynamic=True)
case("concat_last", [(2, 3), (2, 5), (2, 7)], lambda tf, x, y, z: tf.concat([x, y, z], -1))
case("split", [(2, 6)], lambda tf, x: tf.split(x, 3, 1)[1], dynamic=True)
case("split_sizes", [(2, 10)], lambda tf, x: tf.split(x, [2, 3, 5], 1)[2])
case("stack", [(2, 3), (2, 3)], lambda tf, x, y: tf.stack([x, y], axis=1))
case("unstack", [(2, 3)], lambda tf, x: tf.unstack(x)[1])
case("slice", [(5, 7)], lambda tf, x: tf.slice(x, [1, 2], [2, -1]), dynamic=True)
case("strided_slice", [(5, 7)], lambda tf, x: x[1:4:2, ::-1], dynamic=True)
case("strided_slice_index", [(5, 7)], lambda tf, x: x[1])
case("strided_slice_mixed", [(5, 7, 3)], lambda tf, x: x[..., tf.newaxis, 1], dynamic=True)
case("gather", [(5, 3)], lambda tf, x: tf.gather(x, [1, 1, 4]), dynamic=True)
case("gather_axis", [(5, 3)], lambda tf, x: tf.gather(x, [2, 0], axis=1))
case("gather_nd", [(5, 3)], lambda tf, x: tf.gather_nd(x, [[1, 2], [4, 0]]))
case("scatter_nd", [(2, 3)], lambda tf, x: tf.scatter_nd([[4], [1]], x, [5, 3]))
case("pad", [(2, 3)], lambda tf, x: tf.pad(x, [[1, 0], [2, 3]]), dynamic=True)
case("pad_constant", [(2, 3)], lambda tf, x: tf.pad(x, [[1, 0], [2, 3]], constant_values=1.5))
case("pad_reflect", [(3, 5)], lambda tf, x: tf.pad(x, [[1, 1], [2, 0]], mode="REFLECT"))
case("tile", [(2, 3)], lambda tf, x: tf.tile(x, [3, 2]), dynamic=True)
case("squeeze", [(2, 1, 3)], lambda tf, x: tf.squeeze(x, [1]))
case("expand_dims", [(2, 3)], lambda tf, x: tf.expand_dims(x, 1), dynamic=True)
case("reverse", [(2, 3)], lambda tf, x: tf.reverse(x, [1]))
case("broadcast_to", [(3,)], lambda tf, x: tf.broadcast_to(x, [2, 3]))
case("fill", [()], lambda tf, x: tf.fill([2, 3], x))
case("diag", [(3,)], lambda tf, x: tf.diag(x))
case("top_k", [(2, 5)], lambda tf, x: tf.nn.top_k(x, 2).values)
case("boolean_mask", [(3, 2)], lambda tf, x: tf.boolean_mask(x, [True, False, True]))
case("matrix_band_part", [(3, 3)], lambda tf, x: tf.matrix_band_part(x, -1, 0))
case("matrix_diag_part", [(3, 3)], lambda tf, x: tf.trace(x))

# Choices and conversions.
case("where", [(2, 3), (2, 3)], lambda tf, x, y: tf.where(x > y, x, 2.0 * y), dynamic=True)
case("where_vector", [(3, 2), (3, 2)], lambda tf, x, y: tf.where([True, False, True], x, y))
case("cast", [(2, 3)], lambda tf, x: tf.cast(tf.cast(x, tf.float64) * 3.0, tf.float32))
case("cast_integer", [(2, 3)], lambda tf, x: x + tf.to_float(tf.to_int32(x)))
case("stop_gradient", [(2, 3), (2, 3)], lambda tf, x, y: tf.stop_gradient(x) * y)
case("unrelated", [(2, 3), (2, 3)], lambda tf, x, y: 2.0 * y)
case("argmax", [(2, 3)], lambda tf, x: x + tf.to_float(tf.expand_dims(tf.argmax(x, 1), 1)))

# Losses.
case(
    "softmax_cross_entropy",
    [(2, 3), (2, 3)],
    lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits(logits=x, labels=y),
    dynamic=True,
)
case(
    "softmax_cross_entropy_v2",
    [(2, 3), (2, 3)],
    lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(logits=x, labels=y),
)
case(
    "sparse_softmax_cross_entropy",
    [(2, 3)],
    lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=[2, 0]),
)
case(
    "sparse_softmax_cross_entropy_rank3",
    [(2, 3, 5)],
    lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=[[2, 0, 1], [4, 4, 0]]),
)
case(
    "sigmoid_cross_entropy",
    [(2, 3), (2, 3)],
    lambda tf, x, y: tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=y),
    dynamic=True,
)
case(
    "weighted_cross_entropy",
    [(2, 3), (2, 3)],
    lambda tf, x, y: tf.nn.weighted_cross_entropy_with_logits(logits=x, targets=y, pos_weight=1.7),
)
case("mean_squared_error", [(2, 3), (2, 3)], lambda tf, x, y: tf.losses.mean_squared_error(x, y))
