"""`tensorflow.python.keras.engine.base_preprocessing_layer` and `keras.layers.preprocessing.normalization`. Source: TF 1.15.

Layers that look at data before training, by `adapt`.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfexp.core.errors import OutOfRangeError
from tfexp.data.dataset import Dataset
from tfexp.data.transformations import cardinality
from tfexp.keras import backend
from tfexp.keras.engine.base_layer import Layer
from tfexp.keras.training.dataset_batches import INFINITE, reader_of
from tfexp.ops.array import reshape


class PreprocessingLayer(Layer):
    """A layer whose state comes from data, rather than from training."""

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Take the state from data. reset_state: whether what it has seen before is forgotten."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it takes its state from data")


class Combiner:
    """A computation over data in parts: an accumulator for each part, which are merged in any order."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def compute(self, batch_values: Any, accumulator: Any = None) -> Any:
        """The accumulator of a batch, and of what another one has seen."""
        raise NotImplementedError

    def merge(self, accumulators: Sequence[Any]) -> Any:
        """One accumulator of what all these have seen."""
        raise NotImplementedError

    def extract(self, accumulator: Any) -> dict[str, Any]:
        """What was computed, by the names of the layer's variables."""
        raise NotImplementedError

    def restore(self, output: dict[str, Any]) -> Any:
        """The accumulator that this was extracted from."""
        raise NotImplementedError

    def serialize(self, accumulator: Any) -> bytes:
        """The accumulator as bytes."""
        raise NotImplementedError

    def deserialize(self, encoded_accumulator: bytes) -> Any:
        """The accumulator that was serialized."""
        raise NotImplementedError


class CombinerPreprocessingLayer(PreprocessingLayer):
    """A layer whose state is what a `Combiner` computes."""

    def __init__(self, combiner: Combiner, **kwargs: Any):
        super().__init__(**kwargs)
        self._combiner = combiner
        self.state_variables: OrderedDict[str, Any] = OrderedDict()

    def _add_state_variable(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any = None,
        partitioner: Any = None,
        use_resource: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """A variable that `adapt` assigns what the combiner extracts under its name."""
        self.state_variables[name] = self.add_weight(
            name,
            shape,
            dtype,
            initializer,
            trainable=False,
            partitioner=partitioner,
            use_resource=use_resource,
            **kwargs,
        )
        return self.state_variables[name]

    def adapt(self, data: Any, reset_state: bool = True) -> None:
        """Take the state from a dataset of batches, or from one array. ValueError for others, and for one without end."""
        if not isinstance(data, (Dataset, np.ndarray)):
            raise ValueError(f"adapt() requires a Dataset or a Numpy array as input, got {type(data)}")
        if isinstance(data, Dataset) and int(backend.get_value(cardinality(data))) == INFINITE:
            raise ValueError(
                'The dataset passed to "adapt()" has an infinite number of elements. Please use dataset.take(...) to make '
                "the number of elements finite."
            )
        accumulator = None if reset_state else self._combiner.restore(self._restore_updates())
        for batch in _batches(data):
            if not self.built:
                self.build(getattr(batch, "shape", None))
            accumulator = self._combiner.compute(batch, accumulator)
        self._set_state_variables(self._combiner.extract(accumulator))

    def _restore_updates(self) -> dict[str, Any]:
        return {name: backend.get_value(variable) for name, variable in self.state_variables.items()}

    def _set_state_variables(self, updates: dict[str, Any]) -> None:
        """Assign values by name. RuntimeError before there are variables."""
        if not self.built:
            raise RuntimeError("_set_state_variables() must be called after build().")
        backend.batch_set_value([(self.state_variables[name], value) for name, value in updates.items()])


def _batches(data: Any) -> Any:
    """The batches of a dataset, in arrays; an array is one."""
    if isinstance(data, np.ndarray):
        yield data
        return
    restart, following = reader_of(data)
    restart()
    while True:
        try:
            batch = following()
        except (OutOfRangeError, StopIteration):
            return
        yield batch


class Moments(NamedTuple):
    """Of values: how many, their mean and their variance."""

    count: Any
    mean: Any
    variance: Any


class _NormalizingCombiner(Combiner):
    """The moments of what lies along an axis, or several."""

    def __init__(self, axis: Any):
        self.axis = axis

    def compute(self, batch_values: Any, accumulator: Moments | None = None) -> Moments:
        values = np.asarray(batch_values)
        kept = {int(axis) % values.ndim for axis in np.atleast_1d(self.axis)}
        over = tuple(axis for axis in range(values.ndim) if axis not in kept)
        count = np.prod([values.shape[axis] for axis in over], dtype=np.int32)
        found = _moments(count, values.mean(over, dtype=np.float64), values.var(over, dtype=np.float64))
        return found if accumulator is None else self.merge([accumulator, found])

    def merge(self, accumulators: Sequence[Moments]) -> Moments:
        counts, means, variances = (np.stack(part) for part in zip(*accumulators, strict=True))
        weights = counts / counts.sum()
        mean = np.tensordot(weights, means, 1)
        # Around the common mean, each part's values spread by their own variance and by how far their mean is off.
        return _moments(counts.sum(), mean, np.tensordot(weights, variances + np.square(means - mean), 1))

    def extract(self, accumulator: Moments) -> dict[str, Any]:
        return accumulator._asdict()

    def restore(self, output: dict[str, Any]) -> Moments:
        found = _moments(**output)
        if found.count == 0 and (np.any(found.mean) or np.any(found.variance)):
            raise RuntimeError(
                "The mean and/or variance of a Normalization preprocessing layer were set without also setting 'count'. If "
                "'count' is not also set, 'adapt' cannot be called unless the 'reset_state' arg is True."
            )
        return found

    def serialize(self, accumulator: Moments) -> bytes:
        return json.dumps({name: np.asarray(value).tolist() for name, value in accumulator._asdict().items()}).encode()

    def deserialize(self, encoded_accumulator: bytes) -> Moments:
        return _moments(**json.loads(encoded_accumulator))


def _moments(count: Any, mean: Any, variance: Any) -> Moments:
    """Those of nothing are 0."""
    return Moments(np.array(count), np.nan_to_num(mean), np.nan_to_num(variance))


class Normalization(CombinerPreprocessingLayer):
    """(inputs - mean) / variance, both of what `adapt` has seen along `axis`: an int or several. ValueError for axis 0."""

    _NormalizingCombiner = _NormalizingCombiner

    def __init__(self, axis: Any = -1, dtype: Any = None, **kwargs: Any):
        super().__init__(combiner=_NormalizingCombiner(axis), dtype=dtype or backend.floatx(), **kwargs)
        if axis == 0:
            raise ValueError("The argument 'axis' may not be 0.")
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        several = isinstance(self.axis, (tuple, list))
        kept = {axis: input_shape[axis] for axis in (self.axis if several else [self.axis])}
        self._broadcast_shape = [1] * len(input_shape)
        for axis, size in kept.items():
            self._broadcast_shape[axis] = size
        shape = list(kept.values())
        self.mean = self._add_state_variable("mean", shape, backend.floatx(), "zeros")
        self.variance = self._add_state_variable("variance", shape, backend.floatx(), "zeros")
        self.count = self._add_state_variable("count", (), "int32", "zeros")
        super().build(input_shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        mean, variance = (reshape(moment, self._broadcast_shape) for moment in (self.mean, self.variance))
        return (inputs - mean) / variance

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def compute_output_signature(self, input_spec: Any) -> Any:
        return input_spec

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "axis": self.axis}

    def set_weights(self, weights: Any) -> None:
        """Of mean and variance, or of these and the count, which is 0 otherwise."""
        super().set_weights([*weights, np.array(0)] if len(weights) == 2 else weights)
