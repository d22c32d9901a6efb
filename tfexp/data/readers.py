"""Data sets of files' records: `tf.data.TextLineDataset`, `TFRecordDataset`, `FixedLengthRecordDataset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.data.dataset import Dataset
from tfexp.data.structure import Component
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.tensor import Tensor
from tfexp.ops import dataset_files as files
from tfexp.ops.array import reshape
from tfexp.ops.dataset import tensor_slice_dataset

_RECORD = Component(dtypes.string, TensorShape([]))


class _FileDataset(Dataset):
    """The records of each file in turn; with `num_parallel_reads`, of that many files at a time, one record each."""

    def __init__(self, filenames: Any, of_file: Callable[[Tensor], Tensor], num_parallel_reads: Any = None):
        def read_one_file(filename: Tensor) -> Dataset:
            return Dataset(of_file(filename), _RECORD)

        names = _names(filenames)
        if num_parallel_reads is None:
            records = names.flat_map(read_one_file)
        else:
            records = names.interleave(read_one_file, num_parallel_reads, 1, num_parallel_reads)
        super().__init__(records._variant_tensor, _RECORD)


def _names(filenames: Any) -> Dataset:
    """A data set of file names; TypeError unless they are strings."""
    if isinstance(filenames, Dataset):
        if filenames.output_types != dtypes.string:
            raise TypeError(f"`filenames` must be a `tf.data.Dataset` of `tf.string` elements. Got {filenames.output_types}")
        if not filenames.output_shapes.is_compatible_with([]):
            raise TypeError(
                "`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements. Got shape "
                f"{filenames.output_shapes}"
            )
        return filenames
    tensor = convert_to_tensor(filenames, dtype=dtypes.string)
    flat = reshape(tensor, [-1], name="flat_filenames")
    return Dataset(tensor_slice_dataset([flat], output_shapes=[TensorShape([])], is_files=True), _RECORD)


def _text(value: Any, default: str, name: str) -> Tensor:
    return convert_to_tensor(default if value is None else value, dtype=dtypes.string, name=name)


def _number(value: Any, default: int, name: str) -> Tensor:
    return convert_to_tensor(default if value is None else value, dtype=dtypes.int64, name=name)


class TextLineDataset(_FileDataset):
    """The lines of text files, without their ends. `compression_type`: "", "ZLIB" or "GZIP"."""

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None
    ):
        def of_file(filename: Tensor) -> Tensor:
            kind = _text(compression_type, "", "compression_type")
            result: Tensor = files.text_line_dataset(filename, kind, _number(buffer_size, 256 << 10, "buffer_size"))
            return result

        super().__init__(filenames, of_file, num_parallel_reads)


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files. `compression_type`: "", "ZLIB" or "GZIP"."""

    def __init__(
        self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None
    ):
        def of_file(filename: Tensor) -> Tensor:
            kind = _text(compression_type, "", "compression_type")
            result: Tensor = files.tf_record_dataset(filename, kind, _number(buffer_size, 256 << 10, "buffer_size"))
            return result

        super().__init__(filenames, of_file, num_parallel_reads)


class FixedLengthRecordDataset(_FileDataset):
    """The records of `record_bytes` each of binary files, between a header and a footer."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ):
        def of_file(filename: Tensor) -> Tensor:
            record = _number(record_bytes, 0, "record_bytes")
            header, footer = _number(header_bytes, 0, "header_bytes"), _number(footer_bytes, 0, "footer_bytes")
            size, kind = _number(buffer_size, 256 << 10, "buffer_size"), _text(compression_type, "", "compression_type")
            result: Tensor = files.fixed_length_record_dataset_v2(filename, header, record, footer, size, kind)
            return result

        super().__init__(filenames, of_file, num_parallel_reads)
