"""`tensorflow.examples.tutorials.mnist.mnist`: the network of the first tutorials, two hidden layers. Source: TF 1.15."""

from __future__ import annotations

import math
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_fill import zeros
from tfexp.ops.cast import cast
from tfexp.ops.losses import sparse_softmax_cross_entropy
from tfexp.ops.matmul import matmul
from tfexp.ops.nn_activation import relu
from tfexp.ops.nn_topk import in_top_k
from tfexp.ops.random import truncated_normal
from tfexp.ops.reduce import reduce_sum
from tfexp.ops.summary import scalar
from tfexp.ops.variables import Variable
from tfexp.train.gradient_descent import GradientDescentOptimizer

NUM_CLASSES = 10
IMAGE_SIZE = 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Any:
    """[batch, NUM_CLASSES] logits of [batch, IMAGE_PIXELS] images."""
    with name_scope("hidden1"):
        hidden1 = relu(_affine(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        hidden2 = relu(_affine(hidden1, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        return _affine(hidden2, hidden2_units, NUM_CLASSES)


def _affine(x: Any, size: int, units: int) -> Any:
    weights = Variable(truncated_normal([size, units], stddev=1.0 / math.sqrt(size)), name="weights")
    biases = Variable(zeros([units]), name="biases")
    return matmul(x, weights) + biases


def loss(logits: Any, labels: Any) -> Any:
    """The mean cross entropy."""
    return sparse_softmax_cross_entropy(labels=cast(labels, dtypes.int64), logits=logits)


def training(loss: Any, learning_rate: Any) -> Any:
    """The operation of a step of gradient descent; the loss gets a summary, and a variable `global_step` counts."""
    scalar("loss", loss)
    global_step = Variable(0, name="global_step", trainable=False)
    return GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> Tensor:
    """How many of the examples have their largest logit at the label."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), dtypes.int32))
