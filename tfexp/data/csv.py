"""CSV files as data sets: `tf.data.experimental.CsvDataset`, `make_csv_dataset`. Source: TF 1.15."""

from __future__ import annotations

import csv
import glob
import io
import itertools
import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

from tfexp.core import dtypes
from tfexp.core.dtypes import DType
from tfexp.core.errors import NotFoundError
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset, mapped
from tfexp.data.structure import Component, spec_of
from tfexp.data.transformations import AUTOTUNE, parallel_interleave
from tfexp.data.transformations import ignore_errors as passing_over_errors
from tfexp.formats.compressed_file import open_file
from tfexp.formats.file_errors import file_error
from tfexp.graph.convert import constant, convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.dataset_csv import csv_dataset_v2

_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)
_BUFFER = 4 << 20


class CsvDataset(Dataset):
    """The records of CSV files: a tuple of a scalar for each of `record_defaults` (values, or types of required fields).

    `select_cols`: the fields (in increasing order) to which these belong; without it a record must have just these.
    TypeError for types that are none of float32, float64, int32, int64, string.
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ):
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        kind = convert_to_tensor(compression_type or "", dtype=dtypes.string, name="compression_type")
        required = [_required(default) for default in record_defaults]
        defaults = [
            default if isinstance(default, Tensor) else convert_to_tensor(default, name=f"record_defaults_{i}")
            for i, default in enumerate(required)
        ]
        for default in defaults:
            if default.dtype not in _TYPES:
                raise TypeError(
                    f"Fields of CSV records are of types {', '.join(t.name for t in _TYPES)}, not {default.dtype.name}"
                )
        element = tuple(Component(default.dtype, TensorShape([])) for default in defaults)
        variant = csv_dataset_v2(
            names,
            kind,
            convert_to_tensor(buffer_size or _BUFFER, dtype=dtypes.int64, name="buffer_size"),
            convert_to_tensor(header, dtype=dtypes.bool, name="header"),
            convert_to_tensor(field_delim, dtype=dtypes.string, name="field_delim"),
            convert_to_tensor(use_quote_delim, dtype=dtypes.bool, name="use_quote_delim"),
            convert_to_tensor(na_value, dtype=dtypes.string, name="na_value"),
            convert_to_tensor([] if select_cols is None else select_cols, dtype=dtypes.int64, name="select_cols"),
            defaults,
            convert_to_tensor([], dtype=dtypes.int64, name="exclude_cols"),
            output_shapes=spec_of(element)["output_shapes"],
        )
        super().__init__(variant, element)


def _required(default: Any) -> Any:
    """A default; of a type, the empty vector that says that a field is required."""
    if isinstance(default, DType):
        if default not in _TYPES:
            raise TypeError(f"Fields of CSV records are of types {', '.join(t.name for t in _TYPES)}, not {default.name}")
        return constant([], dtype=default)
    return default


# --- with names --------------------------------------------------------------------------------------------------------


def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
) -> Dataset:
    """Batches of the records of CSV files, as dicts by column name, or (dict, label) with `label_name`.

    Files: a path, a glob, or a list of these. Names are read from the first file's header, types are guessed from
    `num_rows_for_inference` rows (None: all) where not given. ValueError for names that are not there or twice.
    """
    names = _files(file_pattern)
    dataset = Dataset.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    reading = _Reading(names, field_delim, use_quote_delim, header, compression_type)
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = reading.names()
    _refuse_twice(column_names)
    selected = None if select_columns is None else _indices(select_columns, column_names)
    if column_defaults is not None:
        column_defaults = [_required(default) for default in column_defaults]
        if selected is not None and len(column_defaults) != len(selected):
            raise ValueError(
                "If specified, `column_defaults` and `select_columns` must have the same length: `column_defaults` has "
                f"length {len(column_defaults)}, `select_columns` has length {len(selected)}."
            )
        if selected is not None:  # the defaults come in the order in which the columns were named
            pairs = sorted(zip(selected, column_defaults, strict=True), key=lambda pair: pair[0])
            selected, column_defaults = [i for i, _ in pairs], [default for _, default in pairs]
    else:
        selected = None if selected is None else sorted(selected)
        column_defaults = reading.defaults(len(column_names), selected, na_value, num_rows_for_inference)
    if selected is not None:
        column_names = [column_names[i] for i in selected]
    if label_name is not None and label_name not in column_names:
        raise ValueError(f"`label_name` provided must be one of the columns: {list(column_names)}. Received: {label_name}.")

    def filename_to_dataset(filename: Tensor) -> Dataset:
        return CsvDataset(
            filename,
            column_defaults,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=selected,
            header=header,
            compression_type=compression_type,
        )

    def map_fn(*columns: Tensor) -> Any:
        features = OrderedDict(zip(column_names, columns, strict=True))
        return features if label_name is None else (features, features.pop(label_name))

    records = dataset.apply(parallel_interleave(filename_to_dataset, num_parallel_reads or 1, sloppy=sloppy))
    if ignore_errors:
        records = records.apply(passing_over_errors())
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    batches = records.batch(batch_size, drop_remainder=num_epochs is None)
    ahead = AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size
    return mapped(batches, map_fn, keeps=True, inter_op=False).prefetch(ahead)


def _files(file_pattern: Any) -> list[str]:
    """The files of patterns, sorted. ValueError where there are none."""
    patterns = list(file_pattern) if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("Argument `file_pattern` should not be empty.")
    names = sorted(name for pattern in patterns for name in glob.glob(pattern))
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names


def _refuse_twice(names: Sequence[str]) -> None:
    twice = {name for name in names if list(names).count(name) > 1}
    if twice:
        raise ValueError(f"Cannot have duplicate column names. These come again: {twice}")


def _indices(select_columns: Sequence[Any], column_names: Sequence[str]) -> list[int]:
    """The numbers of columns that are named, or given by number."""
    known = {name: i for i, name in enumerate(column_names)}
    indices = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(
                    f"Column index {column} specified in select_columns out of valid range. There are {len(column_names)} "
                    "columns."
                )
            indices.append(column)
        elif column not in known:
            raise ValueError(f"Column {column} specified in `select_columns` must be of one of the columns: {known.keys()}.")
        else:
            indices.append(known[column])
    if len(set(indices)) != len(indices):
        raise ValueError(f"The `select_columns` argument contains duplicate columns: {sorted(select_columns, key=str)}.")
    return indices


class _Reading:
    """What has to be read of the files while the graph is built."""

    def __init__(self, names: list[str], delimiter: str, quotes: bool, header: bool, kind: str | None):
        self._names, self._delimiter, self._header, self._kind = names, delimiter, header, kind
        self._quoting = csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE

    def _rows(self, name: str) -> Iterator[list[str]]:
        try:
            with io.TextIOWrapper(open_file(name, self._kind or ""), encoding="utf-8", newline="") as file:
                yield from csv.reader(file, delimiter=self._delimiter, quoting=self._quoting)  # type: ignore[arg-type]
        except OSError as error:
            raise file_error(name, error) from error

    def names(self) -> list[str]:
        """The first file's header. ValueError where another file has another one."""
        headers = [next(self._rows(name), None) for name in self._names]
        if headers[0] is None:
            raise NotFoundError(None, None, f"{self._names[0]} has no header: it is empty")
        for name, found in zip(self._names, headers, strict=True):
            if found != headers[0]:
                raise ValueError(
                    "All input CSV files should have the same column names in the header row. "
                    f"{self._names[0]} has {headers[0]}, {name} has {found}."
                )
        return headers[0]

    def defaults(self, count: int, selected: list[int] | None, missing: str, rows: int | None) -> list[Tensor]:
        """A default of the narrowest type that fits for each column: int32, int64, float32, float64, string."""
        columns = list(range(count)) if selected is None else selected
        kinds = [0] * len(columns)
        for record in itertools.islice(self._records(), rows):
            if len(record) != count:
                raise ValueError(
                    f"Problem inferring types: CSV row {record} has {len(record)} number of fields. Expected: {count}."
                )
            for i, column in enumerate(columns):
                kinds[i] = max(kinds[i], _narrowest(record[column], missing, kinds[i]))
        types = [_ORDER[kind] for kind in kinds]
        return [constant(["" if t is dtypes.string else 0], dtype=t) for t in types]

    def _records(self) -> Iterator[list[str]]:
        for name in self._names:
            yield from itertools.islice(self._rows(name), 1 if self._header else 0, None)


_ORDER = (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string)


def _narrowest(text: str, missing: str, lowest: int) -> int:
    """The number of the first type in `_ORDER`, from `lowest` on, that `text` is a value of."""
    if text in ("", missing):
        return lowest
    return next((i for i in range(lowest, len(_ORDER)) if _fits(text, _ORDER[i])), len(_ORDER) - 1)


def _fits(text: str, dtype: DType) -> bool:
    if dtype is dtypes.string:
        return True
    try:
        if dtype.is_integer:
            return bool(dtype.min <= int(text) <= dtype.max)
        value = float(text)
    except ValueError:
        return False
    return dtype is dtypes.float64 or not math.isfinite(value) or abs(value) <= float(dtypes.float32.max)
