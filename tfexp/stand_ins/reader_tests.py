"""`reader_dataset_ops_test_base` of `tensorflow.python.data.experimental.kernel_tests`: files that tests of readers read.

There are `_num_files` files of `_num_records` records each. Source: TF 1.15.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar

from tfexp.core import dtypes, errors
from tfexp.data.experimental import make_batched_features_dataset
from tfexp.formats.protos.example import Example
from tfexp.formats.tfrecord import TFRecordWriter
from tfexp.ops.parsing import FixedLenFeature, VarLenFeature
from tfexp.stand_ins.dataset_tests import DatasetTestBase

_LABEL = "fake-label"


class _FilesTestBase(DatasetTestBase):
    _num_files: ClassVar = 2
    _num_records: ClassVar = 7

    def _path(self, name: str) -> str:
        return os.path.join(self.get_temp_dir(), name)

    def _written(self, name: str, content: bytes) -> str:
        with open(self._path(name), "wb") as file:
            file.write(content)
        return self._path(name)

    def _written_records(self, record: Callable[[int, int], bytes]) -> list[str]:
        """TFRecord files of what `record` gives for the numbers of file and record."""
        paths = [self._path(f"tf_record.{number}.txt") for number in range(self._num_files)]
        for number, path in enumerate(paths):
            with TFRecordWriter(path) as writer:
                for place in range(self._num_records):
                    writer.write(record(number, place))
        return paths

    def _interleave(self, iterators: Iterable[Iterator[Any]], cycle_length: int) -> Iterator[Any]:
        """One of each of `cycle_length` iterators in turn; the place of one that has ended is taken by the next."""
        waiting = deque(iterators)
        turns: list[Iterator[Any] | None] = [waiting.popleft() for _ in range(min(cycle_length, len(waiting)))]
        while any(turns):
            for place in range(len(turns)):
                while (iterator := turns[place]) is not None:
                    found = list(islice(iterator, 1))
                    if found:
                        yield found[0]
                        break
                    turns[place] = waiting.popleft() if waiting else None

    def _places(self, file_indices: Iterable[int], num_epochs: int, cycle_length: int) -> Iterator[tuple[int, int]]:
        """The numbers of (file, record) in the order in which they are read."""
        for _ in range(num_epochs):
            files = [iter([(file, place) for place in range(self._num_records)]) for file in file_indices]
            yield from self._interleave(files, cycle_length)


def _in_batches(places: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(places, size)):
        yield batch


class FixedLengthRecordDatasetTestBase(_FilesTestBase):
    """Records of one digit, repeated, between a header of H and a footer of F."""

    _header_bytes: ClassVar = 5
    _record_bytes: ClassVar = 3
    _footer_bytes: ClassVar = 2

    def _record(self, f: int, r: int) -> bytes:
        return str(f * 2 + r).encode() * self._record_bytes

    def _createFiles(self) -> list[str]:
        ends = b"H" * self._header_bytes, b"F" * self._footer_bytes
        return [
            self._written(
                f"fixed_length_record.{f}.txt", b"".join(self._record(f, r) for r in range(self._num_records)).join(ends)
            )
            for f in range(self._num_files)
        ]


class TextLineDatasetTestBase(_FilesTestBase):
    """Lines that say which they are, the last one without an end."""

    def _lineText(self, f: int, l: int) -> bytes:  # noqa: E741
        return f"{f}: {l}".encode()

    def _createFiles(
        self, num_files: int, num_lines: int, crlf: bool = False, compression_type: str | None = None
    ) -> list[str]:
        pack: dict[Any, Callable[[bytes], bytes]] = {None: bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}
        if compression_type not in pack:
            raise ValueError("Unsupported compression_type", compression_type)
        end = b"\r\n" if crlf else b"\n"
        return [
            self._written(
                f"text_line.{f}.txt", pack[compression_type](end.join(self._lineText(f, n) for n in range(num_lines)))
            )
            for f in range(num_files)
        ]


class TFRecordDatasetTestBase(_FilesTestBase):
    """Records of text that says which they are; `outputs()` is what a test reads of them."""

    def setUp(self) -> None:
        super().setUp()
        self.test_filenames = self._createFiles()

    def _record(self, f: int, r: int) -> bytes:
        return f"Record {r} of file {f}".encode()

    def _createFiles(self) -> list[str]:
        return self._written_records(self._record)

    def _next_expected_batch(
        self,
        file_indices: Iterable[int],
        batch_size: int,
        num_epochs: int,
        cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: bool,
    ) -> Iterator[list[bytes]]:
        """What batches are to hold; of parsed records, all but the first letter."""
        places = self._places(list(file_indices), num_epochs, cycle_length)
        records = (self._record(*place)[1 if use_parser_fn else 0 :] for place in places)
        for batch in _in_batches(records, batch_size):
            if len(batch) == batch_size or not drop_final_batch:
                yield batch

    def _verify_records(
        self,
        outputs: Callable[[], Any],
        batch_size: int,
        file_index: int | None,
        num_epochs: int,
        interleave_cycle_length: int,
        drop_final_batch: bool,
        use_parser_fn: bool,
    ) -> None:
        """The batches of one file, or of all for None, and then the end."""
        files = range(self._num_files) if file_index is None else [file_index]
        for expected in self._next_expected_batch(
            files, batch_size, num_epochs, interleave_cycle_length, drop_final_batch, use_parser_fn
        ):
            self.assertAllEqual(expected, self.evaluate(outputs()))
        with self.assertRaises(errors.OutOfRangeError):
            self.evaluate(outputs())


class MakeBatchedFeaturesDatasetTestBase(_FilesTestBase):
    """Examples with the numbers of their `file` and `record`, one or two `keywords` and a `label`.

    A test assigns the function that gives its next batch to `outputs`.
    """

    outputs: Callable[[], Any]

    def setUp(self) -> None:
        super().setUp()
        self.test_filenames = self._createFiles()

    def make_batch_feature(
        self,
        filenames: Any,
        num_epochs: int | None,
        batch_size: int,
        label_key: str | None = None,
        reader_num_threads: int = 1,
        parser_num_threads: int = 1,
        shuffle: bool = False,
        shuffle_seed: int | None = None,
        drop_final_batch: bool = False,
    ) -> Any:
        """The data set of the examples in `filenames`."""
        features = {
            "file": FixedLenFeature([], dtypes.int64),
            "record": FixedLenFeature([], dtypes.int64),
            "keywords": VarLenFeature(dtypes.string),
            "label": FixedLenFeature([], dtypes.string),
        }
        return make_batched_features_dataset(
            filenames,
            batch_size,
            features,
            label_key=label_key,
            num_epochs=num_epochs,
            shuffle=shuffle,
            shuffle_seed=shuffle_seed,
            reader_num_threads=reader_num_threads,
            parser_num_threads=parser_num_threads,
            drop_final_batch=drop_final_batch,
        )

    def _get_keywords(self, f: int, r: int) -> list[bytes]:
        return [f"keyword{number}".encode() for number in range(1 + (f + r) % 2)]

    def _sum_keywords(self, num_files: int) -> int:
        return sum(len(self._get_keywords(f, r)) for f in range(num_files) for r in range(self._num_records))

    def _record(self, f: int, r: int, l: str) -> bytes:  # noqa: E741
        example = Example()
        for name, number in (("file", f), ("record", r)):
            example.features.feature[name].int64_list.value.append(number)
        example.features.feature["keywords"].bytes_list.value.extend(self._get_keywords(f, r))
        example.features.feature["label"].bytes_list.value.append(l.encode())
        return bytes(example.SerializeToString())

    def _createFiles(self) -> list[str]:
        return self._written_records(lambda f, r: self._record(f, r, _LABEL))

    def _run_actual_batch(self, outputs: Callable[[], Any], label_key_provided: bool = False) -> list[Any]:
        """[files, keywords' indices, values and dense shape, records, labels] of what `outputs()` is."""
        found = self.evaluate(outputs())
        features, label = found if label_key_provided else (found, found["label"])
        keywords = features["keywords"]
        return [features["file"], keywords.indices, keywords.values, keywords.dense_shape, features["record"], label]

    def _next_actual_batch(self, label_key_provided: bool = False) -> list[Any]:
        return self._run_actual_batch(self.outputs, label_key_provided)

    def _next_expected_batch(
        self, file_indices: Iterable[int], batch_size: int, num_epochs: int, cycle_length: int = 1
    ) -> Iterator[list[Any]]:
        """What batches are to hold, as `_run_actual_batch` has it."""
        places = self._places(list(file_indices), num_epochs, cycle_length)
        for batch in _in_batches(places, batch_size):
            yield self._expected(batch)

    def _expected(self, batch: Sequence[tuple[int, int]]) -> list[Any]:
        keywords = [self._get_keywords(f, r) for f, r in batch]
        indices = [[row, column] for row, words in enumerate(keywords) for column in range(len(words))]
        values = [word for words in keywords for word in words]
        files, records = ([place[i] for place in batch] for i in range(2))
        return [files, indices, values, [len(batch), max(map(len, keywords))], records, [_LABEL.encode()] * len(batch)]

    def verify_records(
        self,
        batch_size: int,
        file_index: int | None = None,
        num_epochs: int = 1,
        label_key_provided: bool = False,
        interleave_cycle_length: int = 1,
    ) -> None:
        """The batches of one file, or of all for None."""
        files = range(self._num_files) if file_index is None else [file_index]
        for expected in self._next_expected_batch(files, batch_size, num_epochs, interleave_cycle_length):
            for one, other in zip(expected, self._next_actual_batch(label_key_provided), strict=True):
                self.assertAllEqual(one, other)
