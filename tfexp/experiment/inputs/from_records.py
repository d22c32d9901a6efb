"""`input=tfrecord`: the rows are read from TFRecord files while the run trains, epoch after epoch.

Two ways of shuffling. Where all rows fit into `shuffle`, each epoch reads them all and puts the records, not yet parsed,
into the order that `input=feed` has, too: the same batches for the same seed. Else memory stays flat: each epoch goes
through the files in an order of its own, and shuffles `shuffle` records at a time.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tfexp as tf
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.datasets.record_files import RecordFiles, locate
from tfexp.experiment.datasets.record_rows import parsed
from tfexp.experiment.errors import ExperimentError, SettingError
from tfexp.experiment.inputs.input import Batches, Input, Share
from tfexp.experiment.inputs.iterating import Iterated
from tfexp.experiment.progress import Rows
from tfexp.experiment.recording import rows_digest, write_records
from tfexp.experiment.schema import bounded

__all__ = ["FromRecords"]

_BATCHES_TO_A_CHUNK = 4096
_ORIGIN = "From /job:"
"""How an error's message begins that another process sent."""


@dataclass(frozen=True, kw_only=True)
class FromRecords(Input):
    """`files`: folders, files or globs, as `tfexp.records` writes them. Without any, the data's rows are written to
    a folder in `cache` first, in `shards` files, unless an earlier run did that.
    """

    files: tuple[str, ...] = bounded(
        says="folders, files or globs; none: the data's rows are written to a folder in cache, once"
    )
    cache: str = bounded(says="the folder for the rows of data that is in no files yet")
    shards: int = bounded(least=1, says="files to write in cache")
    shuffle: int = bounded(
        least=1, says="records that are shuffled together; if that is all of them, batches are those of input=feed"
    )
    ignore_errors: bool = bounded(says="records that cannot be read are passed over and counted, instead of ending the run")
    prefetch: int = bounded(least=0, says="batches that a thread has ready; 0: each step makes its own")

    def prepare(self, dataset: Dataset) -> Dataset:
        if self.files:
            records = locate(self.files, damaged=self.ignore_errors)
            _compare(records, dataset)
            return self._with(records, dataset)
        if dataset.records is not None:
            assert isinstance(dataset.records, RecordFiles)
            return dataset if dataset.records.passed else self._with(dataset.records, dataset)
        return dataclasses.replace(dataset, records=self._cached(dataset))

    def _with(self, records: RecordFiles, dataset: Dataset) -> Dataset:
        """The data with these records to train on, looked into where errors are to be ignored."""
        if self.ignore_errors:
            records = records.checked(dataset.spec)
            dataset = dataclasses.replace(dataset, skipped=dataset.skipped + records.skipped)
        digest = _digest(records, dataset) if self.files or records.skipped.rows else dataset.digest
        return dataclasses.replace(dataset, records=records, digest=digest)

    def batches(self, share: Share) -> Batches:
        records = share.dataset.records
        assert isinstance(records, RecordFiles)
        kind = _InOrder if records.rows <= self.shuffle else _Streamed
        return kind(share, records, self)

    def _cached(self, dataset: Dataset) -> RecordFiles:
        """The files in `cache` with exactly these rows."""
        digest = rows_digest(dataset)
        shards = min(self.shards, dataset.train.rows)
        folder = Path(self.cache) / f"{digest[:16]}-{shards}"
        if not folder.exists():
            rows = Rows(f"writing {dataset.origin} to {folder}", dataset.train.rows + dataset.test.rows)
            try:
                with contextlib.closing(rows):
                    write_records(dataset, folder, shards, "", rows.done)
            except ExperimentError:
                if not folder.exists():  # else another process was quicker
                    raise
        records = locate([str(folder)])
        if [d.rows_sha256 for d in records.descriptions] != [digest]:
            raise ExperimentError(f"{folder} does not hold the records of {dataset.origin}: remove it")
        return records


def _compare(records: RecordFiles, dataset: Dataset) -> None:
    """Raises SettingError for records of other data than what the run is tested on."""
    for description in records.descriptions:
        there, here = description.spec, dataset.spec
        if (there.width, there.classes) != (here.width, here.classes):
            raise SettingError(
                "input.files",
                f"the records of {description.origin} have {_kind(there.width, there.classes)}, and the data "
                f"({dataset.origin}) has {_kind(here.width, here.classes)}: choose the data that they were made from, "
                "or data=records",
            )
        if description.data_sha256 == dataset.digest and description.rows_sha256 != rows_digest(dataset):
            raise SettingError(
                "input.files",
                f"the records of {description.origin} were made with another data.test_fraction, data.split_seed or "
                "data.standardize: some of the rows to test on may be among them",
            )


def _digest(records: RecordFiles, dataset: Dataset) -> str:
    """Of the data and what is trained on: the data's own where that is the same."""
    written = [description.rows_sha256 for description in records.descriptions]
    if written == [rows_digest(dataset)] and records.rows == dataset.train.rows:
        return dataset.digest
    return hashlib.sha256(f"{dataset.digest} {written} {records.counts}".encode()).hexdigest()


def _kind(width: int, classes: int | None) -> str:
    return f"{width} features and {'numbers as labels' if classes is None else f'{classes} classes'}"


class _Reading(Iterated):
    """A pipeline that reads all files once in each epoch, and once more in the next."""

    def __init__(self, share: Share, records: RecordFiles, settings: FromRecords):
        self.records, self.settings = records, settings
        super().__init__(share)

    def strings(self, files: Any) -> tf.data.Dataset:
        """The records of the files, one after the other, that can be read."""
        strings: tf.data.Dataset = tf.data.TFRecordDataset(files, self.records.compression)
        if any(passed.damaged for passed in self.records.passed):
            strings = strings.apply(tf.data.experimental.ignore_errors())
        return strings

    def left_out(self, files: Iterable[int]) -> np.ndarray:
        """The places, rising, of the records that are no rows among those of the files of these numbers."""
        records, places, start = self.records, [np.empty(0, np.int64)], 0
        for file in files if records.passed else ():
            places.append(np.array(records.passed[file].records, np.int64) + start)
            start += records.readable[file]
        return np.concatenate(places)

    def batched(self, strings: tf.data.Dataset) -> tf.data.Dataset:
        """From records to batches of rows."""
        size, spec = self.share.batch_size, self.share.spec

        def rows(records: tf.Tensor) -> tf.data.Dataset:
            features, labels = parsed(tf.reshape(records, [-1]), spec)
            shape = [-1, size] if spec.classes is not None else [-1, size, 1]
            parts = tf.reshape(features, [-1, size, spec.width]), tf.reshape(labels, shape)
            return tf.data.Dataset.from_tensor_slices(parts)

        batches = strings.skip(self.skipped).batch(self.at_once).flat_map(rows)
        return batches.prefetch(self.settings.prefetch) if self.settings.prefetch else batches

    def explain(self, error: tf.errors.OpError) -> ExperimentError | None:
        """What is wrong in the files: reading says it itself, parsing only that some record is no row."""
        match error:
            case tf.errors.DataLossError():
                return self._unreadable(_told(error))
            case tf.errors.NotFoundError():
                return ExperimentError(_told(error))
            case tf.errors.InvalidArgumentError():
                found = self.records.fault(self.share.spec)
                return None if found is None else self._unreadable(found)
            case tf.errors.OutOfRangeError():
                return ExperimentError(
                    f"the files have fewer records than the {self.records.rows} that were counted in them"
                )
        return None

    def _unreadable(self, what: str) -> ExperimentError:
        way_out = "" if self.records.passed else "; input.ignore_errors=true passes over such records"
        return ExperimentError(what + way_out)


def _told(error: tf.errors.OpError) -> str:
    """What the reader said, in whichever process."""
    return next(line for line in error.message.splitlines() if not line.startswith(_ORIGIN))


class _InOrder(_Reading):
    """Each epoch's records are put into the order that the batches have: a chunk is fed the row numbers of its batches."""

    def __init__(self, share: Share, records: RecordFiles, settings: FromRecords):
        self._chunk_batches = max(1, _BATCHES_TO_A_CHUNK // share.batches_per_epoch) * share.batches_per_epoch
        super().__init__(share, records, settings)
        self._places = np.delete(np.arange(sum(records.readable)), self.left_out(range(len(records.files))))
        """Of the rows among the records."""

    def pipeline(self) -> tf.data.Dataset:
        records, share = self.records, self.share
        self._rows = tf.placeholder(tf.int64, [None, share.batch_size], name="rows")
        self._epochs = tf.placeholder(tf.int64, [None, 2], name="epochs")
        rows = self._rows

        def epoch(span: tf.Tensor) -> tf.data.Dataset:
            """The batches `span[0]` to `span[1]` of the chunk: those of one epoch."""
            files = self.strings(list(records.files)).batch(sum(records.readable))
            wanted = rows[span[0] : span[1]]
            return files.flat_map(lambda strings: tf.data.Dataset.from_tensor_slices(tf.gather(strings, wanted)))

        return self.batched(tf.data.Dataset.from_tensor_slices(self._epochs).flat_map(epoch))

    def place(self, begin: int) -> tuple[int, int, int]:
        if self.share.workers > 1:
            return begin, 0, 0
        return 0, *divmod(begin, self._chunk_batches)

    def chunk(self, begin: int, number: int) -> tuple[dict[Any, Any], int]:
        share, count = self.share, self._chunk_batches
        numbers = share.numbers(begin, number * count, count)
        starts = np.flatnonzero(np.diff(numbers // share.batches_per_epoch, prepend=-1))
        spans = np.stack([starts, np.append(starts[1:], count)], 1)
        return {self._rows: self._places[share.rows_of(numbers)], self._epochs: spans}, count


class _Streamed(_Reading):
    """A chunk is an epoch: it is fed the files in their order. A worker has whole files where any of them make a batch,
    else every so many-th record of all files.
    """

    def __init__(self, share: Share, records: RecordFiles, settings: FromRecords):
        fewest = sorted(records.counts)[: len(records.files) // share.workers]
        self._by_file = sum(fewest) >= share.batch_size
        super().__init__(share, records, settings)

    def pipeline(self) -> tf.data.Dataset:
        share = self.share
        self._files = tf.placeholder(tf.string, [None], name="files")
        self._key = tf.placeholder(tf.int64, [2], name="key")
        self._left_out = tf.placeholder(tf.int64, [None], name="left_out")
        key, left_out, at_once = self._key, self._left_out, self.settings.shuffle
        some_are_left_out = any(passed.records for passed in self.records.passed)

        def shuffled(some: tf.Tensor, number: tf.Tensor) -> tf.data.Dataset:
            if some_are_left_out:
                begin = number * at_once
                rows, _ = tf.setdiff1d(tf.range(begin, begin + tf.size(some, out_type=tf.int64)), left_out)
                some = tf.gather(some, rows - begin)
            seed = key + tf.stack([number, 0])
            drawn = tf.random.stateless_uniform(tf.shape(some), seed, minval=0, maxval=2**63 - 1, dtype=tf.int64)
            return tf.data.Dataset.from_tensor_slices(tf.gather(some, tf.argsort(drawn)))

        strings = self.strings(self._files)
        if not self._by_file:
            strings = strings.shard(share.workers, share.worker)
        numbered = tf.data.Dataset.zip((strings.batch(at_once), tf.data.Dataset.range(1 << 62)))
        return self.batched(numbered.flat_map(shuffled).batch(share.batch_size, drop_remainder=True))

    def place(self, begin: int) -> tuple[int, int, int]:
        """Workers whose files differ in size are not in step: one goes on where it would be if all had kept pace."""
        epoch, batch = divmod(begin, self.share.batches_per_epoch)
        return 0, epoch, batch // self.share.stride

    def chunk(self, begin: int, number: int) -> tuple[dict[Any, Any], int]:
        own = self._own_files(number)
        files, left_out = np.array(self.records.files, object)[own], self._own(self.left_out(own))
        feeds = {self._files: files, self._left_out: left_out, self._key: _key(self.share.seed, number)}
        return feeds, self._batches(number)

    def _own(self, places: np.ndarray) -> np.ndarray:
        """Of places among the records of the worker's files: where those that it gets are among its own."""
        if self._by_file:
            return places
        own: np.ndarray = places[places % self.share.workers == self.share.worker] // self.share.workers
        return own

    def _own_files(self, epoch: int) -> np.ndarray:
        """The numbers of the files that this worker reads in the epoch, in order."""
        # The same stream for all workers, apart from those of `batch_rows`; frozen by NumPy's compatibility policy
        order = np.random.RandomState(np.random.Philox(key=[self.share.seed + 2**32, epoch])).permutation(
            len(self.records.files)
        )
        if not self._by_file:
            return order
        return order[self.share.worker :: self.share.workers]

    def _batches(self, epoch: int) -> int:
        """How many batches of this worker the epoch has."""
        own = self._own_files(epoch)
        records = int(np.array(self.records.readable)[own].sum())
        if not self._by_file:
            records = len(range(self.share.worker, records, self.share.workers))
        return (records - len(self._own(self.left_out(own)))) // self.share.batch_size


def _key(seed: int, epoch: int) -> np.ndarray:
    """Where the random numbers of an epoch begin, apart from those of other epochs; int64 [2]."""
    digest = hashlib.sha256(f"{seed} {epoch}".encode()).digest()
    return np.frombuffer(digest[:16], np.int64) >> 1
