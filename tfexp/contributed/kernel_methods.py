"""Features that stand for kernels, and a loss of linear models of them. Source: `tf.contrib.kernel_methods`, TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.scopes import control_dependencies, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape
from tfexp.ops.array_fill import one_hot
from tfexp.ops.cast import cast
from tfexp.ops.check_compare import assert_less, assert_non_negative
from tfexp.ops.elementwise_trig import cos
from tfexp.ops.losses import Reduction, compute_weighted_loss
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.reduce import reduce_max, reduce_sum


class InvalidShapeError(Exception):
    """A tensor that a mapper cannot map."""


class RandomFourierFeatureMapper:
    """sqrt(2 / D) cos(x @ omega + b), whose products are nearly exp(-|x - y|² / (2 stddev²)).

    omega: normal numbers [input_dim, D] over `stddev`; b: numbers from 0 to 2 pi; both by `seed`, the same for each call.
    Source: `tf.contrib.kernel_methods.RandomFourierFeatureMapper`; Rahimi and Recht, "Random Features for Large-Scale
    Kernel Machines" (2007).
    """

    def __init__(self, input_dim: int, output_dim: int, stddev: float = 1.0, seed: int = 1, name: str | None = None):
        self._input_dim, self._output_dim, self._stddev, self._seed, self._name = input_dim, output_dim, stddev, seed, name

    @property
    def name(self) -> str:
        """A number in place of a name that was not given."""
        return self._name or str(id(self))

    @property
    def input_dim(self) -> int:
        return self._input_dim

    @property
    def output_dim(self) -> int:
        return self._output_dim

    def map(self, input_tensor: Any) -> Any:
        """[batch, output_dim] of float32 [batch, input_dim]; InvalidShapeError for other shapes."""
        dims = input_tensor.shape
        if dims.ndims != 2:
            raise InvalidShapeError(f"The shape of the tensor should be 2. Got {dims.ndims} instead.")
        if dims[1].value != self._input_dim:
            raise InvalidShapeError(f"Invalid dimension: expected {self._input_dim} input features, got {dims[1]} instead.")
        draws = np.random.RandomState(self._seed)  # TensorFlow's own numbers
        omega = constant(draws.normal(scale=1.0 / self._stddev, size=(self._input_dim, self._output_dim)), dtypes.float32)
        shift = constant(draws.uniform(high=2 * np.pi, size=self._output_dim), dtypes.float32)
        return math.sqrt(2.0 / self._output_dim) * cos(matmul(input_tensor, omega) + shift)  # type: ignore[operator]


def sparse_multiclass_hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """max over the wrong classes of logit - right logit + 1, or 0 where that is negative; reduced as in `tf.losses`.

    labels: int32 or int64 [batch] or [batch, 1]; logits: [batch, classes]; weights: a number, [batch] or [batch, 1].
    ValueError for other types and ranks; a label that is no class fails in the run.
    Source: `tf.contrib.kernel_methods.sparse_multiclass_hinge_loss`; Crammer and Singer, "On the Algorithmic Implementation
    of Multiclass Kernel-based Vector Machines" (2001).
    """
    with name_scope(scope, "sparse_multiclass_hinge_loss", [logits, labels]) as whole:
        labels, logits = convert_to_tensor(labels, name="labels"), convert_to_tensor(logits, name="logits")
        if logits.shape.ndims != 2:
            raise ValueError(f"logits should have rank 2 ([batch_size, num_classes]). Given rank is {logits.shape.ndims}")
        if labels.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Invalid dtype for labels: {labels.dtype}. Acceptable dtypes: int32 and int64")
        if labels.shape.ndims not in (1, 2):
            ranks = "rank 1 ([batch_size]) or 2 ([batch_size, 1])"
            raise ValueError(f"labels should have {ranks}. Given rank is {labels.shape.ndims}")
        logits, labels = cast(logits, dtypes.float32), reshape(labels, [-1])
        count: Any = cast(shape(logits)[1], labels.dtype)  # type: ignore[index]
        with control_dependencies([assert_non_negative(labels), assert_less(labels, count)]):
            right: Any = one_hot(labels, cast(count, dtypes.int32), dtype=dtypes.float32)
        margins = logits - reduce_sum(right * logits, 1, keepdims=True) + (1.0 - right)
        weights = convert_to_tensor(weights)
        if weights.shape.ndims == 2:
            weights = reshape(weights, [-1])
        return compute_weighted_loss(relu(reduce_max(margins, 1)), weights, whole, loss_collection, reduction)
