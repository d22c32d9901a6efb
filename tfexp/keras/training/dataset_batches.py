"""Batches of a `tf.data` dataset, or of an iterator over one. Source: `fit` on datasets, TF 1.15."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

from tfexp.core import dtypes, nest
from tfexp.core.errors import OutOfRangeError
from tfexp.data.dataset import Dataset
from tfexp.data.eager_iterator import EagerIterator
from tfexp.data.iterator import Iterator as GraphIterator
from tfexp.data.iterator import make_initializable_iterator
from tfexp.data.transformations import cardinality
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras import backend
from tfexp.keras.training.arrays import as_value, is_composite_value, known_shape
from tfexp.keras.training.batches import Batch, Batches, OutOfBatchesError
from tfexp.keras.training.steps import Weighted

# (inputs, targets, weights) as they come -> the values of a batch, and which outputs have weights
Arranged = Callable[[tuple[Any, ...]], tuple[list[Any], Weighted]]

INFINITE = -1

# Nodes, whatever their versions, that give elements in the order in which they come; of others nobody knows.
_IN_ORDER = frozenset(
    f"{kind}Dataset"
    for kind in (
        *("Tensor", "TensorSlice", "SparseTensorSlice", "Range", "FixedLengthRecord", "TextLine", "TFRecord"),
        *("Batch", "PaddedBatch", "Window", "Cache", "Prefetch", "Repeat", "Skip", "Take", "Options"),
        *("Map", "ParallelMap", "Filter", "Concatenate", "Zip"),
    )
)
_OF_BATCHES = frozenset({"BatchDataset", "PaddedBatchDataset"})


def is_in_order(dataset: Dataset) -> bool:
    """Whether it is known of a dataset in a graph that nothing shuffles it."""
    return _all_among(_IN_ORDER, dataset._variant_tensor.op)


def is_of_single_elements(dataset: Dataset) -> bool:
    """Whether it is known of a dataset in a graph that nothing puts its elements into batches."""
    return _all_among(_IN_ORDER - _OF_BATCHES | {"ShuffleDataset"}, dataset._variant_tensor.op)


def _all_among(kinds: frozenset[str], op: Operation) -> bool:
    sources = (one.op for one in op.inputs if one.dtype is dtypes.variant)
    return re.sub(r"V\d$", "", op.type) in kinds and all(_all_among(kinds, source) for source in sources)


def is_dataset(data: Any) -> bool:
    """Whether it is a dataset or an iterator over one."""
    return isinstance(data, (Dataset, GraphIterator, EagerIterator))


def refuse_iterator(data: Any) -> None:
    """ValueError for an iterator over a dataset, which TensorFlow has `fit`, `evaluate` and `predict` take no more."""
    if is_dataset(data) and not isinstance(data, Dataset):
        raise ValueError(
            "For performance reasons Keras `fit`, `evaluate` and`predict` accept tf.data `Datasets` as input but not "
            "iterators that have been manually generated from Datasets by users. Please directly pass in the original "
            "`Dataset` object instead of passing in `iter(dataset)`."
        )


class DatasetBatches:
    """Goes on in the dataset from epoch to epoch for as many steps as are asked for; or through all of it each epoch.

    steps: None for a dataset that is gone through whole. ValueError for one without end, and for an iterator, of which
    nobody knows the end. counted: whether a batch is as heavy as it has samples.
    """

    by_sample = False
    batch_size: int | None = None

    def __init__(
        self,
        data: Any,
        steps: int | None,
        arrange: Arranged,
        argument: str = "steps_per_epoch",
        counted: bool = False,
        mean_over_samples: bool = False,
    ):
        self._arrange, self._counted = arrange, counted
        self.mean_over_samples = mean_over_samples
        self._whole = steps is None
        self.announced: str | None = None if self._whole and counted else "steps"
        if steps is None:
            if not isinstance(data, Dataset):
                raise ValueError(f"When using iterators as input to a model, you should specify the `{argument}` argument.")
            size = cardinality(data)
            count = int(backend.get_value(size))
            if count == INFINITE:
                raise ValueError(
                    f"When passing an infinitely repeating dataset, you must specify the `{argument}` argument."
                )
            steps = count if count >= 0 else None
        self.steps = steps
        self.samples = None if self._whole and counted else steps
        self._restart, self._next = reader_of(data)
        self._started = False
        self._ahead: list[Batch] = []

    def look_ahead(self) -> None:
        self._restart()
        with contextlib.suppress(OutOfRangeError, StopIteration):  # that there is none is for the epoch to say
            self._ahead = [self._batch()]

    def epoch(self) -> Iterator[Batch]:
        if (self._whole or not self._started) and not self._ahead:
            self._restart()
        self._started = True
        done = 0
        while self.steps is None or done < self.steps:
            try:
                batch = self._ahead.pop() if self._ahead else self._batch()
            except (OutOfRangeError, StopIteration):
                if self._whole:
                    self.steps = done
                    self.samples = None if self._counted else done
                    return
                raise OutOfBatchesError("dataset") from None
            yield batch
            done += 1

    def _batch(self) -> Batch:
        element = self._next()
        alone = not isinstance(element, tuple) or is_composite_value(element)
        values, weighted = self._arrange((element,) if alone else element)
        return Batch(values, weighted, (known_shape(values[0])[0] or 0) if self._counted else 1)

    def restart(self) -> None:
        """Begin at the first element in the next epoch: each validation sees the same."""
        self._started = False

    def close(self) -> None:
        """Nothing runs."""


def first_of(batches: Batches) -> Batch:
    """The first batch of a dataset, or the next one of an iterator. OutOfRangeError where there is none."""
    try:
        return next(batches.epoch())
    except OutOfBatchesError:
        raise OutOfRangeError(None, None, "End of sequence") from None


def reader_of(data: Any) -> tuple[Callable[[], None], Callable[[], Any]]:
    """What begins anew, and what gives the next element, in arrays."""
    if executing_eagerly():
        return _eager_reader(data)
    if isinstance(data, Dataset):
        iterator = make_initializable_iterator(data)
        initializer = iterator.initializer
        element = iterator.get_next()
        session = backend.get_session()
        return lambda: session.run(initializer), _run_of(session, element)
    return lambda: None, _run_of(backend.get_session(), data.get_next())


def _run_of(session: Any, element: Any) -> Callable[[], Any]:
    run: Callable[[], Any] = session.make_callable(element)
    return run


def _eager_reader(data: Any) -> tuple[Callable[[], None], Callable[[], Any]]:
    current = iter(data)

    def restart() -> None:
        nonlocal current
        if isinstance(data, Dataset):
            current = iter(data)

    return restart, lambda: nest.map_structure(as_value, next(current))
