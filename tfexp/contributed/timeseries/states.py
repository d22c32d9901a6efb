"""Where the states of series are between batches. Source: `tf.contrib.timeseries`' `state_management`, TF 1.15."""

from __future__ import annotations

import abc
from typing import Any

from tfexp.contributed.timeseries.feature_keys import FilteringFeatures, TrainEvalFeatures
from tfexp.contributed.timeseries.input_statistics import InputStatistics
from tfexp.contributed.timeseries.model import ModelOutputs, TimeSeriesModel, replicate_state
from tfexp.core import dtypes, nest
from tfexp.estimator.modes import ModeKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, shape, size
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.array_mask import where
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.lookup import MutableDenseHashTable

_INTERVAL = 20


class PassthroughStateManager:
    """Each window begins with the model's start state; a state that is given is a ValueError."""

    def __init__(self) -> None:
        self._input_statistics: InputStatistics | None = None
        self._graph_initialized = False

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: InputStatistics | None = None) -> None:
        """Makes what all uses in the default graph share."""
        self._graph_initialized, self._input_statistics = True, input_statistics

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        """What comes of a batch of windows."""
        if FilteringFeatures.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager, abc.ABC):
    """One in which the state of an evaluation may be given, as `start_tuple`; that of training is a ValueError."""

    def define_loss(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        if FilteringFeatures.STATE_TUPLE not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{FilteringFeatures.STATE_TUPLE} was specified)."
            )
        return model.get_batch_loss(features, mode, features.pop(FilteringFeatures.STATE_TUPLE))

    @abc.abstractmethod
    def _define_loss_with_saved_state(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        """What comes of windows whose state is not given."""


class FilteringOnlyStateManager(_OverridableStateManager):
    """Windows begin with the model's start state, or with one that is given."""

    def _define_loss_with_saved_state(self, model: TimeSeriesModel, features: dict[str, Any], mode: str) -> ModelOutputs:
        return model.define_loss(features, mode)


class ChainingStateManager(_OverridableStateManager):
    """A window begins with the state that an earlier step of training had at about its first time.

    Times are in chunks of `state_saving_interval`; of each chunk the state with which it was last entered is kept, in
    checkpoints too with `checkpoint_state`. The first chunk, and those not seen yet, begin with the start state.
    """

    def __init__(self, state_saving_interval: int = _INTERVAL, checkpoint_state: bool = False):
        super().__init__()
        self._state_saving_interval, self._checkpoint_state = state_saving_interval, checkpoint_state
        self._start_state: Any = None
        self._cached_states: _StateTable | None = None

    def initialize_graph(self, model: TimeSeriesModel, input_statistics: InputStatistics | None = None) -> None:
        super().initialize_graph(model, input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = _StateTable(self._start_state, "cached_states", self._checkpoint_state)

    def _define_loss_with_saved_state(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        if self._cached_states is None:
            raise ValueError("ChainingStateManager: call initialize_graph() before it is used in a graph.")
        times = features[TrainEvalFeatures.TIMES]
        before = self._states_at(self._cached_states, times[:, 0])
        loss, states, predictions = model.per_step_batch_loss(features, mode, before)
        next_times = concat([times[:, 1:], times[:, -1:] + 1], 1)
        entered = maximum(self._chunk(next_times), self._chunk(times) + 1)
        with control_dependencies([self._cached_states.insert(entered, states)]):
            loss = identity(loss)
        end = nest.map_structure(lambda part: part[-1:, -1], states)
        return ModelOutputs(loss, end, {**predictions, "observed": features[TrainEvalFeatures.VALUES]}, times)

    def _chunk(self, times: Any) -> Any:
        return times // self._state_saving_interval

    def _states_at(self, kept: _StateTable, times: Tensor) -> Any:
        first = 0 if self._input_statistics is None else self._chunk(self._input_statistics.start_time)
        begins = equal(self._chunk(times), cast(first, dtypes.int64))
        starts = replicate_state(self._start_state, shape(times)[0])
        return nest.map_structure(lambda start, known: where(begins, start, known), starts, kept.lookup(self._chunk(times)))


class _StateTable:
    """Structures of tensors by numbers from 0 on; a table holds rows, so each tensor is a row in one of its own."""

    def __init__(self, default: Any, name: str, checkpoint: bool):
        self._default = nest.map_structure(convert_to_tensor, default)
        self._tables = [
            MutableDenseHashTable(
                dtypes.int64, part.dtype, reshape(part, [-1]), -1, -2, name=f"{name}_{number}", checkpoint=checkpoint
            )
            for number, part in enumerate(nest.flatten(self._default))
        ]

    def lookup(self, keys: Tensor) -> Any:
        """The structures of keys [batch], [batch, ...]."""
        found = []
        for table, part in zip(self._tables, nest.flatten(self._default), strict=True):
            found.append(reshape(table.lookup(keys), concat([shape(keys), shape(part)], 0)))
            found[-1].set_shape(keys.shape.concatenate(part.shape))
        return nest.pack_sequence_as(self._default, found)

    def insert(self, keys: Tensor, values: Any) -> Operation:
        """The operation that sets the structures of keys [...], given as [..., dims of the part]; of equal keys the last."""
        rows = reshape(keys, [-1])
        parts = nest.flatten(values)
        with control_dependencies(parts):
            return group(
                *(
                    table.insert(rows, reshape(part, [size(rows), -1]))
                    for table, part in zip(self._tables, parts, strict=True)
                )
            )
