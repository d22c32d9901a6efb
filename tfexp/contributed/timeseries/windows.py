"""Input functions of series: all at once, or in windows from anywhere. Source: `tf.contrib.timeseries`, TF 1.15."""

from __future__ import annotations

import abc
from typing import Any

from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures
from tfexp.contributed.timeseries.readers import TimeSeriesReader
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import constant
from tfexp.graph.scopes import control_dependencies
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import expand_dims, reshape, shape
from tfexp.ops.array_gather import gather
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import concat
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_all, reduce_any
from tfexp.ops.sort import argsort
from tfexp.ops.state import assign
from tfexp.ops.variable_base import Variable
from tfexp.train.batching import batch, maybe_shuffle_batch


class TimeSeriesInputFn(abc.ABC):
    """A function that gives (features, None) for an estimator."""

    @abc.abstractmethod
    def create_batch(self) -> tuple[dict[str, Any], None]:
        """Features [batch, window, ...]."""

    def __call__(self) -> tuple[dict[str, Any], None]:
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series, a batch of one, again and again."""

    def __init__(self, time_series_reader: TimeSeriesReader):
        self._reader = time_series_reader

    def create_batch(self) -> tuple[dict[str, Any], None]:
        return {name: expand_dims(feature, 0) for name, feature in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Batches of windows of a series, in any order.

    Windows lie side by side, and begin at other times in each round where there is `jitter`. A window in which time goes
    back, over the series' end, is left out with `discard_out_of_order`, and after `discard_consecutive_batches_limit` times
    in which nothing is left the input ends (OutOfRangeError); without it the window is put in order.
    queue_capacity_multiplier, shuffle_min_after_dequeue_multiplier: how many batches, or at least, are shuffled.
    num_threads: of reading; `None` is one for each window of a batch.
    """

    def __init__(
        self,
        time_series_reader: TimeSeriesReader,
        window_size: int,
        batch_size: int,
        queue_capacity_multiplier: int = 1000,
        shuffle_min_after_dequeue_multiplier: int = 2,
        discard_out_of_order: bool = True,
        discard_consecutive_batches_limit: int = 1000,
        jitter: bool = True,
        num_threads: int | None = 2,
        shuffle_seed: int | None = None,
    ):
        time_series_reader.check_dataset_size(window_size)
        self._reader, self._window_size, self._batch_size = time_series_reader, window_size, batch_size
        self._capacity, self._min_after_dequeue = queue_capacity_multiplier, shuffle_min_after_dequeue_multiplier
        self._discards, self._discard_limit = discard_out_of_order, discard_consecutive_batches_limit
        self._jitter, self._seed = jitter, shuffle_seed
        self._num_threads = batch_size if num_threads is None else num_threads

    def create_batch(self) -> tuple[dict[str, Any], None]:
        windows = self._windows()
        times = windows[TrainEvalFeatures.TIMES]
        if self._discards:
            keep: Any = self._in_order(times)
        else:
            order = argsort(times, axis=1, stable=True)
            windows, keep = {name: gather(window, order, batch_dims=1) for name, window in windows.items()}, True
        shuffled = maybe_shuffle_batch(
            windows,
            self._batch_size,
            self._capacity * self._batch_size,
            self._min_after_dequeue * self._batch_size,
            keep,
            num_threads=self._num_threads,
            seed=self._seed,
            enqueue_many=True,
        )
        return shuffled, None

    def _windows(self) -> dict[str, Tensor]:
        """As many windows as a batch has, [batch, window, ...]."""
        records = self._window_size * self._batch_size
        jitter: Any = random_uniform([], maxval=2, dtype=dtypes.int32) if self._jitter else 0
        stretch = batch(
            self._reader.read(), records + jitter, self._num_threads, self._capacity * records, enqueue_many=True
        )
        windows = {}
        for name, series in stretch.items():
            dims = concat([[self._batch_size, self._window_size], shape(series)[1:]], 0)
            windows[name] = reshape(series[jitter:], dims)
            windows[name].set_shape([self._batch_size, self._window_size, *series.shape[1:]])
        return windows

    def _in_order(self, times: Tensor) -> Tensor:
        """In which windows time does not go back; counts how often there have been none."""
        in_order = reduce_all(times[:, 1:] >= times[:, :-1], 1)
        discarded: Any = Variable(
            constant(0, dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        counted = cond(
            reduce_any(in_order), lambda: assign(discarded, 0), lambda: discarded.count_up_to(self._discard_limit)
        )
        with control_dependencies([counted]):
            return identity(in_order)
