"""The rows of the table of stand-ins (`places`) for the packages of `tensorflow.python.ops`."""

from __future__ import annotations

import re

from tfexp.stand_ins.places_of_data import renamed

_LINEAR_OPERATORS = (
    "adjoint block_diag circulant composition diag full_matrix householder identity inversion kronecker low_rank_update "
    "lower_triangular zeros"
)


def _initializer_names() -> dict[str, str]:
    """zeros, zeros_initializer and so on: the other names of the initializers of version 2."""
    kinds = (
        "Zeros Ones Constant RandomUniform RandomNormal TruncatedNormal VarianceScaling GlorotUniform GlorotNormal "
        "Orthogonal Identity"
    )
    short = {re.sub(r"(?<!^)([A-Z])", r"_\1", kind).lower(): kind for kind in kinds.split()}
    return {**short, **{f"{name}_initializer": kind for name, kind in short.items()}, "zero": "Zeros", "one": "Ones"}


# tensorflow.python.<key>, with the places that answer, in order.
PACKAGES_OF_OPS = {
    "ops.collective_ops": "tfexp.ops.collective",
    "ops.nccl_ops": "tfexp.stand_ins.nccl_ops",
    "ops.default_gradient": "tfexp.stand_ins.graph_questions",
    "ops.distributions.bernoulli": "tf.distributions",
    "ops.distributions.beta": "tf.distributions tfexp.distributions.positive_parameters",
    "ops.distributions.bijector": "tfexp.distributions.bijectors.bijector",
    "ops.distributions.bijector_test_util": "tfexp.stand_ins.bijector_tests",
    "ops.distributions.bijector_impl": "tfexp.distributions.bijectors.bijector",
    "ops.distributions.categorical": "tf.distributions",
    "ops.distributions.dirichlet": "tf.distributions",
    "ops.distributions.dirichlet_multinomial": "tf.distributions",
    "ops.distributions.distribution": "tf.distributions",
    "ops.distributions.distributions": "tf.distributions",
    "ops.distributions.exponential": "tf.distributions tfexp.distributions.positive_parameters",
    "ops.distributions.gamma": "tf.distributions tfexp.distributions.positive_parameters",
    "ops.distributions.identity_bijector": "tfexp.distributions.bijectors.elementwise",
    "ops.distributions.kullback_leibler": "tf.distributions tfexp.distributions.kullback_leibler "
    + renamed("tfexp.distributions.kullback_leibler", _registered_kl="_rule", _DIVERGENCES="_RULES"),
    "ops.distributions.laplace": "tf.distributions tfexp.distributions.positive_parameters",
    "ops.distributions.multinomial": "tf.distributions",
    "ops.distributions.normal": "tf.distributions tfexp.distributions.normal",
    "ops.distributions.special_math": "tfexp.stand_ins.distribution_functions",
    "ops.distributions.util": "tfexp.distributions.checks tfexp.distributions.functions tfexp.distributions.simplex "
    + "tfexp.stand_ins.distribution_functions "
    + renamed("tfexp.stand_ins.distribution_functions", maybe_get_static_value="static_value_of"),
    "ops.distributions.student_t": "tf.distributions tfexp.distributions.positive_parameters",
    "ops.distributions.transformed_distribution": "tfexp.distributions.transformed",
    "ops.distributions.uniform": "tf.distributions",
    "ops.init_ops_v2": "tfexp.ops.initializers_v2 "
    + renamed("tfexp.ops.initializers_v2", **_initializer_names())
    + "tfexp.ops.initializers:_compute_fans=_fans",
    "ops.linalg.linalg": "tf.linalg",
    "ops.linalg.linalg_impl": "tf.linalg " + renamed("tf.linalg", matrix_exponential="expm", matrix_logarithm="logm"),
    "ops.linalg.linear_operator": "tf.linalg tfexp.linear_operators.operator",
    "ops.linalg.linear_operator_addition": "tfexp.stand_ins.linear_operator_addition",
    **{f"ops.linalg.linear_operator_{name}": "tf.linalg" for name in _LINEAR_OPERATORS.split()},
    "ops.linalg.linear_operator_toeplitz": "tf.linalg tfexp.stand_ins.linear_operator_utilities",
    "ops.linalg.linear_operator_algebra": "tfexp.stand_ins.linear_operator_algebra",
    **{f"ops.linalg.{name}_registrations": "tf.linalg" for name in ("adjoint", "cholesky", "inverse", "matmul", "solve")},
    "ops.linalg.registrations_util": "tfexp.linear_operators.hints",
    "ops.linalg.linear_operator_test_util": "tfexp.stand_ins.linear_operator_tests",
    "ops.linalg.linear_operator_util": "tfexp.stand_ins.linear_operator_utilities",
    "ops.losses.loss_reduction": "tfexp.keras.losses.weighted:ReductionV2=Reduction",
    "ops.losses.losses": "tf.losses",
    "ops.losses.losses_impl": "tf.losses",
    "ops.losses.util": "tfexp.stand_ins.weighted_losses tf.losses",
    "ops.parallel_for.control_flow_ops": renamed("tfexp.stand_ins.parallel_for", pfor="pfor", for_loop="for_loop") + "tf",
    "ops.parallel_for.gradients": "tfexp.stand_ins.parallel_for",
    "ops.parallel_for.test_util": "tfexp.stand_ins.parallel_for:PForTestCase=PForTestCase",
    "ops.ragged.ragged_array_ops": renamed("tfexp.ragged_tensors.arrays", ragged_one_hot="one_hot")
    + "tf.ragged tfexp.ragged_tensors.arrays tf",
    "ops.ragged.ragged_batch_gather_ops": "tf:batch_gather=batch_gather",
    "ops.ragged.ragged_concat_ops": "tfexp.ragged_tensors.arrays",
    "ops.ragged.ragged_config": "tfexp.stand_ins.ragged_conversions",
    "ops.ragged.ragged_conversion_ops": "tfexp.stand_ins.ragged_conversions",
    "ops.ragged.ragged_dispatch": "tfexp.stand_ins.ragged_dispatch",
    "ops.ragged.ragged_factory_ops": "tf.ragged tfexp.stand_ins.ragged_conversions:"
    "_find_scalar_and_max_depth=scalar_and_max_depth tfexp.stand_ins.ragged_conversions:"
    "_default_inner_shape_for_pylist=default_inner_shape",
    "ops.ragged.ragged_functional_ops": "tf.ragged",
    "ops.ragged.ragged_gather_ops": "tfexp.ragged_tensors.arrays tf:gather_nd=gather_nd",
    "ops.ragged.ragged_getitem": "tfexp.ragged_tensors.indexing:ragged_tensor_getitem=item",
    "ops.ragged.ragged_map_ops": "tfexp.ragged_tensors.mapping tf",
    "ops.ragged.ragged_math_ops": "tf.ragged tfexp.ragged_tensors.segments tf",
    "ops.ragged.ragged_operators": "tf.ragged",
    "ops.ragged.ragged_ops": "tf.ragged tf",
    "ops.ragged.ragged_squeeze_op": "tf:squeeze=squeeze",
    "ops.ragged.ragged_string_ops": "tfexp.ragged_tensors.strings tf.strings "
    + renamed("tf.strings", string_bytes_split="bytes_split", strings_split_v1="split")
    + renamed("tfexp.stand_ins.ragged_conversions", string_split_v2="string_split_v2")
    + renamed("tf", string_split="string_split"),
    "ops.ragged.ragged_tensor": "tf tf.ragged tfexp.ragged_tensors.tensor tfexp.ragged_tensors.mapping "
    "tfexp.stand_ins.ragged_conversions tfexp.stand_ins.composite_internals",
    "ops.ragged.ragged_tensor_shape": "tfexp.ragged_tensors.dynamic_shape",
    "ops.ragged.ragged_tensor_value": "tf.compat.v1.ragged tfexp.ragged_tensors.value",
    "ops.ragged.ragged_test_util": "tfexp.stand_ins.ragged_tests",
    "ops.ragged.ragged_util": "tfexp.stand_ins.ragged_conversions",
    "ops.ragged.ragged_tile_op": "tfexp.ragged_tensors.arrays",
    "ops.ragged.ragged_where_op": "tf",
    "ops.ragged.segment_id_ops": "tf.ragged",
    "ops.signal.dct_ops": "tf.signal",
    "ops.signal.fft_ops": "tf.signal tf.spectral tf",
    "ops.signal.mel_ops": "tf.signal",
    "ops.signal.mfcc_ops": "tf.signal",
    "ops.signal.reconstruction_ops": "tf.signal",
    "ops.signal.shape_ops": "tf.signal",
    "ops.signal.signal": "tf.signal",
    "ops.signal.spectral_ops": "tf.signal",
    "ops.signal.util_ops": "tfexp.stand_ins.common_divisors tfexp.ops.signal_frames",
    "ops.signal.window_ops": "tf.signal",
}
