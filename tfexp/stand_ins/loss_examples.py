"""`step_fn` and `single_loss_example` of `tensorflow.python.distribute`: training under a strategy. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.data.dataset import Dataset
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies, get_default_graph
from tfexp.graph.tensor import Tensor
from tfexp.keras.optimizers.optimizer import Optimizer as OptimizerV2
from tfexp.layers.core import Dense
from tfexp.layers.normalization import BatchNormalization
from tfexp.ops.array import reshape
from tfexp.ops.reduce import reduce_mean, reduce_sum


class Step:
    """A step of training: run what `initialize()` gives once, then what calling it gives for each step."""

    def __init__(self, distribution: Any):
        self._distribution = distribution

    @property
    def distribution(self) -> Any:
        return self._distribution

    def initialize(self) -> Any:
        """What has to run before the first step."""
        return []

    def __call__(self) -> Any:
        raise NotImplementedError("must be implemented by the kinds of Step")


class StandardInputStep(Step):
    """A step on the elements of the data set that `dataset_fn()` makes."""

    def __init__(self, dataset_fn: Callable[[], Any], distribution: Any):
        super().__init__(distribution)
        self._iterator = distribution.make_input_fn_iterator(lambda _: dataset_fn())

    def initialize(self) -> Any:
        return self._iterator.initialize()


class StandardSingleLossStep(StandardInputStep):
    """`iterations_per_step` times: each replica's `loss_fn(context, elements)`, minimized by `optimizer`."""

    def __init__(
        self,
        dataset_fn: Callable[[], Any],
        loss_fn: Callable[..., Any],
        optimizer: Any,
        distribution: Any,
        iterations_per_step: int = 1,
    ):
        super().__init__(dataset_fn, distribution)
        self._loss_fn, self._optimizer, self._iterations_per_step = loss_fn, optimizer, iterations_per_step

    def __call__(self) -> Any:
        extended = self.distribution.extended

        def step(context: Any, inputs: Any) -> Any:
            losses = extended.call_for_each_replica(self._minimized, args=(context, inputs))
            return self.distribution.group(losses)

        with self.distribution.scope():
            return extended.experimental_run_steps_on_iterator(step, self._iterator, self._iterations_per_step).run_op

    def _minimized(self, context: Any, inputs: Any) -> Any:
        return self._optimizer.minimize(lambda: self._loss_fn(context, inputs))


def _repeated_one() -> Dataset:
    # Batches of a known size, as XLA asks for.
    return Dataset.from_tensors([[1.0]]).repeat().batch(1, drop_remainder=True)


def _squared_error(output: Any) -> Tensor:
    return (reduce_mean(reshape(output, [])) - constant(1.0)) ** 2


def single_loss_example(
    optimizer_fn: Callable[[], Any], distribution: Any, use_bias: bool = False, iterations_per_step: int = 1
) -> tuple[StandardSingleLossStep, Dense]:
    """(a step that brings the output of a layer of one unit for 1 to 1, the layer)"""
    layer = Dense(1, use_bias=use_bias)

    def loss(context: Any, x: Any) -> Tensor:
        return _squared_error(layer(x))

    return StandardSingleLossStep(_repeated_one, loss, optimizer_fn(), distribution, iterations_per_step), layer


def minimize_loss_example(
    optimizer: Any, use_bias: bool = False, use_callable_loss: bool = True
) -> tuple[Callable[[Any], Operation], Callable[[], Dataset], Dense]:
    """(a function of a replica's elements that minimizes, a function that makes the data set, the layer)"""
    layer = Dense(1, use_bias=use_bias)

    def model_fn(x: Any) -> Any:
        def loss() -> Tensor:
            return _squared_error(layer(x))

        if isinstance(optimizer, OptimizerV2):
            return optimizer.minimize(loss, lambda: layer.trainable_variables)
        return optimizer.minimize(loss if use_callable_loss else loss())

    return model_fn, _repeated_one, layer


def batchnorm_example(
    optimizer_fn: Callable[[], Any],
    batch_per_epoch: int = 1,
    momentum: float = 0.9,
    renorm: bool = False,
    update_ops_in_replica_mode: bool = False,
) -> tuple[Callable[[Any], Operation], Callable[[], Dataset], BatchNormalization]:
    """(a function of a replica's elements that minimizes, a function that makes the data set, the batch normalization)

    Element z of the data set is [16, 8], with 8x + y + 100z in row x and column y.
    """

    def dataset_fn() -> Dataset:
        rows, hundreds = np.arange(16 * 8).reshape(16, 8), 100 * np.arange(batch_per_epoch).reshape(-1, 1, 1)
        return Dataset.from_tensor_slices((rows + hundreds).astype(np.float32)).repeat()

    optimizer = optimizer_fn()
    normalization = BatchNormalization(renorm=renorm, momentum=momentum, fused=False)
    layer = Dense(1, use_bias=False)

    def model_fn(x: Any) -> Any:
        def loss() -> Tensor:
            normalized = normalization(x, training=True)
            updates = get_default_graph().get_collection(GraphKeys.UPDATE_OPS) if update_ops_in_replica_mode else []
            with control_dependencies(updates):
                return reduce_mean(reduce_sum(layer(normalized)) - constant(1.0))

        if isinstance(optimizer, OptimizerV2):
            return optimizer.minimize(loss, lambda: [*normalization.trainable_variables, *layer.trainable_variables])
        return optimizer.minimize(loss)

    return model_fn, dataset_fn, normalization
