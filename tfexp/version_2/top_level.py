"""What `tf.compat.v2` itself has of its own."""

from typing import Any

import tfexp as tf
from tfexp.core.device import DeviceSpecV2 as DeviceSpec
from tfexp.graph import scopes
from tfexp.graph.constants_v2 import constant as constant
from tfexp.graph.gradients import UnconnectedGradients
from tfexp.ops.array_mask import where_v2 as where
from tfexp.ops.initializers_v2 import Constant as constant_initializer
from tfexp.ops.initializers_v2 import Ones as ones_initializer
from tfexp.ops.initializers_v2 import RandomNormal as random_normal_initializer
from tfexp.ops.initializers_v2 import RandomUniform as random_uniform_initializer
from tfexp.ops.initializers_v2 import Zeros as zeros_initializer
from tfexp.ops.space_batch import space_to_batch_nd as space_to_batch
from tfexp.ops.variable_base import VariableV2 as Variable
from tfexp.version_2.arguments import with_arguments


class name_scope(scopes.name_scope):  # noqa: N801 (TensorFlow's name)
    """`with tf.name_scope(name) as scope:` names new nodes below `scope`. ValueError unless the name is a string."""

    def __init__(self, name: str):
        if not isinstance(name, str):
            raise ValueError(f"name for name_scope must be a string, got {name!r}")
        super().__init__(name)


def device(device_name: Any) -> Any:
    """Place nodes on a device, by its name. RuntimeError for a function. Source: `tf.device`, TF 2.0."""
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return tf.device(device_name)


def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Any:
    """Blocks of the batch laid out in space, of `block_shape` or that many rows and columns. `tf.batch_to_space`, TF 2.0."""
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    return tf.batch_to_space_nd(input, block_shape, crops, name)


def ones_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones in the shape of `input`. Source: `tf.ones_like`, TF 2.0."""
    return tf.ones_like(input, dtype, name)


def zeros_like(input: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros in the shape of `input`. Source: `tf.zeros_like`, TF 2.0."""
    return tf.zeros_like(input, dtype, name)


argmax = with_arguments(tf.argmax, "input, axis=None, output_type=int64, name=None")
argmin = with_arguments(tf.argmin, "input, axis=None, output_type=int64, name=None")
assert_equal = with_arguments(tf.assert_equal, "x, y, message=None, summarize=None, name=None")
assert_greater = with_arguments(tf.assert_greater, "x, y, message=None, summarize=None, name=None")
assert_less = with_arguments(tf.assert_less, "x, y, message=None, summarize=None, name=None")
assert_rank = with_arguments(tf.assert_rank, "x, rank, message=None, name=None")
boolean_mask = with_arguments(tf.boolean_mask, "tensor, mask, axis=None, name='boolean_mask'")
case = with_arguments(tf.case, "pred_fn_pairs, default=None, exclusive=False, strict=False, name='case'")
cond = with_arguments(tf.cond, "pred, true_fn=None, false_fn=None, name=None")
convert_to_tensor = with_arguments(tf.convert_to_tensor, "value, dtype=None, dtype_hint=None, name=None")
expand_dims = with_arguments(tf.expand_dims, "input, axis, name=None")
gather = with_arguments(tf.gather, "params, indices, validate_indices=None, axis=None, batch_dims=0, name=None")
gather_nd = with_arguments(tf.gather_nd, "params, indices, batch_dims=0, name=None")
gradients = with_arguments(
    tf.gradients,
    "ys, xs, grad_ys=None, name='gradients', gate_gradients=False, aggregation_method=None, stop_gradients=None, "
    "unconnected_gradients='none'",
)
hessians = with_arguments(tf.hessians, "ys, xs, gate_gradients=False, aggregation_method=None, name='hessians'")
norm = with_arguments(tf.norm, "tensor, ord='euclidean', axis=None, keepdims=None, name=None")
pad = with_arguments(tf.pad, "tensor, paddings, mode='CONSTANT', constant_values=0, name=None")
rank = with_arguments(tf.rank, "input, name=None")
reduce_all = with_arguments(tf.reduce_all, "input_tensor, axis=None, keepdims=False, name=None")
reduce_any = with_arguments(tf.reduce_any, "input_tensor, axis=None, keepdims=False, name=None")
reduce_logsumexp = with_arguments(tf.reduce_logsumexp, "input_tensor, axis=None, keepdims=False, name=None")
reduce_max = with_arguments(tf.reduce_max, "input_tensor, axis=None, keepdims=False, name=None")
reduce_mean = with_arguments(tf.reduce_mean, "input_tensor, axis=None, keepdims=False, name=None")
reduce_min = with_arguments(tf.reduce_min, "input_tensor, axis=None, keepdims=False, name=None")
reduce_prod = with_arguments(tf.reduce_prod, "input_tensor, axis=None, keepdims=False, name=None")
reduce_sum = with_arguments(tf.reduce_sum, "input_tensor, axis=None, keepdims=False, name=None")
reverse_sequence = with_arguments(tf.reverse_sequence, "input, seq_lengths, seq_axis=None, batch_axis=None, name=None")
scalar_mul = with_arguments(tf.scalar_mul, "scalar, x, name=None")
shape = with_arguments(tf.shape, "input, out_type=int32, name=None")
size = with_arguments(tf.size, "input, out_type=int32, name=None")
squeeze = with_arguments(tf.squeeze, "input, axis=None, name=None")
transpose = with_arguments(tf.transpose, "a, perm=None, conjugate=False, name='transpose'")
tuple = with_arguments(tf.tuple, "tensors, control_inputs=None, name=None")
variable_creator_scope = with_arguments(tf.variable_creator_scope, "variable_creator")

while_loop = with_arguments(
    tf.while_loop,
    "cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, "
    "maximum_iterations=None, name=None",
    return_same_structure=True,
)
