"""Where series are read from. Source: `tf.contrib.timeseries.{NumpyReader,CSVReader}`, TF 1.15."""

from __future__ import annotations

import abc
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.contributed.timeseries.feature_keys import TrainEvalFeatures
from tfexp.core import dtypes
from tfexp.data.dataset import Dataset
from tfexp.data.readers import TextLineDataset, TFRecordDataset
from tfexp.estimator.numpy_inputs import numpy_input_fn
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import reshape, squeeze
from tfexp.ops.array_fill import zeros
from tfexp.ops.array_join import stack
from tfexp.ops.decode_csv import decode_csv
from tfexp.ops.parsing import parse_example

_RECORDS = 4096
_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


class TimeSeriesReader(abc.ABC):
    """A series, as often as it is wanted."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:  # noqa: B027 (most do not know how long they are)
        """ValueError for a series that is known to be shorter."""

    @abc.abstractmethod
    def read(self) -> dict[str, Any]:
        """Some of it, and then what comes after that: `times` [records], `values` [records, features] and the rest."""

    @abc.abstractmethod
    def read_full(self) -> dict[str, Any]:
        """All of it."""


class NumpyReader(TimeSeriesReader):
    """The series that a dict of arrays has: `times` [n], `values` [n] or [n, features], others [n, ...].

    read_num_records_hint: how many records are read at a time. ValueError for arrays that are missing or misshapen.
    """

    def __init__(self, data: Mapping[str, Any], read_num_records_hint: int = _RECORDS):
        self._features = batched_series(data)
        if len(self._features[_TIMES]) != 1:
            raise ValueError("Got batch input, was expecting unbatched input.")
        self._records = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        length = self._features[_TIMES].shape[1]
        if length < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only {length} "
                "records were available in the dataset. Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, Any]:
        of_series = {name: np.squeeze(array, axis=0) for name, array in self._features.items()}
        found: dict[str, Any] = numpy_input_fn(of_series, batch_size=self._records, num_epochs=None, shuffle=False)()
        return found

    def read_full(self) -> dict[str, Any]:
        found = numpy_input_fn(self._features, batch_size=1, num_epochs=None, shuffle=False, queue_capacity=2)()
        return {name: squeeze(tensor, axis=[0]) for name, tensor in found.items()}


class _RecordReader(TimeSeriesReader):
    """The series of files, one after another."""

    def __init__(self, filenames: Any, read_num_records_hint: int = _RECORDS):
        self._filenames, self._records = filenames, read_num_records_hint

    @abc.abstractmethod
    def _dataset(self, filenames: Any) -> Dataset:
        """The records of the files, strings."""

    @abc.abstractmethod
    def _parsed(self, records: Tensor) -> dict[str, Any]:
        """What records [n] have in them."""

    def read(self) -> dict[str, Any]:
        return self._parsed(_next(self._dataset(self._filenames).repeat().batch(self._records)))

    def read_full(self) -> dict[str, Any]:
        return self._parsed(_next(self._dataset(self._filenames).batch(sys.maxsize).repeat()))


class CSVReader(_RecordReader):
    """The series whose records are the lines of files. A name that comes several times is that of columns side by side.

    column_names: `times` once and `values`, beside others; column_dtypes: without them int64 for the times and float32 for
    the rest, none of them missing. ValueError for other names, and for dtypes that are not as many.
    """

    def __init__(
        self,
        filenames: Any,
        column_names: Sequence[str] = (_TIMES, _VALUES),
        column_dtypes: Sequence[Any] | None = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = _RECORDS,
    ):
        for required in (_TIMES, _VALUES):
            if required not in column_names:
                raise ValueError(f"'{required}' is a required column.")
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got column_dtypes="
                f"{column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(_TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{_TIMES}'), but exactly one is required.")
        self._names, self._dtypes, self._skipped = column_names, column_dtypes, skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _dataset(self, filenames: Any) -> Dataset:
        if not self._skipped:
            return TextLineDataset(filenames)
        names = Dataset.from_tensor_slices(reshape(convert_to_tensor(filenames), [-1]))
        return names.flat_map(lambda name: TextLineDataset(name).skip(self._skipped))

    def _parsed(self, records: Tensor) -> dict[str, Any]:
        columns: dict[str, list[Any]] = {}
        for name, column in zip(self._names, decode_csv(records, self._defaults()), strict=True):
            columns.setdefault(name, []).append(column)
        return {name: found[0] if name == _TIMES else stack(found, axis=1) for name, found in columns.items()}

    def _defaults(self) -> list[Any]:
        if self._dtypes is not None:
            return [zeros([1], dtype) for dtype in self._dtypes]
        required = constant([], dtypes.float32)
        return [zeros([1], dtypes.int64) if name == _TIMES else required for name in self._names]


class TFExampleReader(_RecordReader):
    """The series whose records are `tf.train.Example`s of record files, parsed by `features` as of `tf.parse_example`."""

    def __init__(self, filenames: Any, features: Mapping[str, Any]):
        for required in (_TIMES, _VALUES):
            if required not in features:
                raise ValueError(f"'{required}' is a required column.")
        self._specs = features
        super().__init__(filenames)

    def _dataset(self, filenames: Any) -> Dataset:
        return TFRecordDataset(filenames)

    def _parsed(self, records: Tensor) -> dict[str, Any]:
        found: dict[str, Any] = parse_example(records, self._specs)
        return found


def batched_series(data: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Arrays with a batch, and where they lack them a time and a feature dimension. ValueError for what does not fit."""
    arrays = {name: np.array(array) for name, array in data.items()}
    if _TIMES not in arrays or _VALUES not in arrays:
        raise ValueError(f"{_TIMES} and {_VALUES} are required features.")
    dims = arrays[_TIMES].shape
    if len(dims) > 2:
        raise ValueError(
            "Got an unexpected number of dimensions for times. Was expecting at most two ([batch size, series length]), but "
            f"got shape {dims}."
        )
    for name, array in arrays.items():
        if array.shape[: len(dims)] != dims:
            raise ValueError(
                "All features must have their shapes prefixed by the shape of the times feature. Got shape "
                f"{array.shape} for feature '{name}', but shape {dims} for '{_TIMES}'"
            )
    values = arrays[_VALUES]
    if len(dims) < 2:
        if values.ndim > len(dims) + 1:
            raise ValueError(
                f"Got an unexpected number of dimensions for the '{_VALUES}' feature. Was expecting at most "
                f"{len(dims) + 1}, [..., number of features], with '{_TIMES}' of shape {dims}, but got shape {values.shape}"
            )
        if values.ndim == len(dims):
            arrays[_VALUES] = values[..., None]
    lacking = (1,) * (2 - len(dims))
    return {name: array.reshape(lacking + array.shape) for name, array in arrays.items()}


def _next(batches: Dataset) -> Tensor:
    records: Tensor = batches.make_one_shot_iterator().get_next()
    return records
