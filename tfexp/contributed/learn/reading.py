"""Batches of examples from files, by queues. Source: `tf.contrib.learn.io.{read_batch_features,…}`, TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.core.errors import CancelledError, OutOfRangeError
from tfexp.formats.file_io import glob_files
from tfexp.graph.convert import constant
from tfexp.graph.scopes import name_scope
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.cast import cast
from tfexp.ops.parsing import parse_example
from tfexp.ops.queue import FIFOQueue
from tfexp.ops.readers import TFRecordReader
from tfexp.ops.summary import scalar
from tfexp.train.batching import batch_join, shuffle_batch_join
from tfexp.train.input import string_input_producer
from tfexp.train.queue_runner import QueueRunner, add_queue_runner

_KEYS = "__key__"  # of the keys among features that a program has parsed


def read_keyed_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: Any = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Any, Any]:
    """(keys, examples): what `reader()` reads from the files, in batches, each [batch_size] or what `parse_fn` made of it.

    file_pattern: one pattern or a list. randomize_input: files and examples are shuffled. num_epochs: how often all is read
    (with a local variable to initialize, and a smaller batch at the end), without end for None. read_batch_size: how many
    records are read at once. ValueError where no file matches, and for sizes that cannot be.
    """
    names = _files(file_pattern, randomize_input)
    _check_sizes(batch_size, queue_capacity, num_threads, read_batch_size, num_epochs)
    with name_scope(name, "read_batch_examples", [file_pattern]) as scope:
        with name_scope("file_name_queue") as files_scope:
            files = constant(names, name="input")
            file_queue = string_input_producer(files, num_epochs, randomize_input, seed, name=files_scope)
        reads_many = isinstance(read_batch_size, Tensor) or read_batch_size > 1
        with name_scope("read"):
            read = [
                _read(reader(), file_queue, read_batch_size if reads_many else None, parse_fn) for _ in range(num_threads)
            ]
        settings = {
            "batch_size": batch_size,
            "capacity": queue_capacity,
            "enqueue_many": reads_many,
            "name": scope,
            "allow_smaller_final_batch": num_epochs is not None,
        }
        if randomize_input:
            if isinstance(batch_size, Tensor):
                left = int(queue_capacity * 0.4)
            else:
                left = max(queue_capacity - 3 * batch_size, batch_size)
            batch: Any = shuffle_batch_join(read, min_after_dequeue=left, seed=seed, **settings)
        else:
            batch = batch_join(read, **settings)
    if isinstance(batch, dict):
        return batch.pop(_KEYS), batch
    keys, examples = batch
    return keys, examples


def read_batch_examples(
    file_pattern: Any,
    batch_size: Any,
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    num_threads: int = 1,
    read_batch_size: Any = 1,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """The examples of `read_keyed_batch_examples`."""
    _, examples = read_keyed_batch_examples(
        file_pattern,
        batch_size,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        num_threads,
        read_batch_size,
        parse_fn,
        name,
        seed,
    )
    return examples


def read_keyed_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> tuple[Any, dict[str, Any]]:
    """(keys, {name: tensor or SparseTensor}): batches of tf.Examples, parsed as `features` says, from a queue of such."""
    with name_scope(name, "read_batch_features", [file_pattern]) as scope:
        keys, examples = read_keyed_batch_examples(
            file_pattern,
            batch_size,
            reader,
            randomize_input,
            num_epochs,
            queue_capacity,
            reader_num_threads,
            batch_size if read_batch_size is None else read_batch_size,
            parse_fn,
            name=scope,
        )
        parsed = parse_example(examples, dict(features))
        return queue_parsed_features(parsed, keys, feature_queue_capacity, num_enqueue_threads, scope)


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    reader: Callable[[], Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    feature_queue_capacity: int = 100,
    reader_num_threads: int = 1,
    num_enqueue_threads: int = 2,
    parse_fn: Callable[[Any], Any] | None = None,
    name: str | None = None,
    read_batch_size: Any = None,
) -> dict[str, Any]:
    """The features of `read_keyed_batch_features`."""
    _, found = read_keyed_batch_features(
        file_pattern,
        batch_size,
        features,
        reader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads,
        feature_queue_capacity,
        num_enqueue_threads,
        parse_fn,
        name,
        read_batch_size,
    )
    return found


def read_batch_record_features(
    file_pattern: Any,
    batch_size: Any,
    features: Mapping[str, Any],
    randomize_input: bool = True,
    num_epochs: int | None = None,
    queue_capacity: int = 10000,
    reader_num_threads: int = 1,
    name: str = "dequeue_record_examples",
) -> dict[str, Any]:
    """`read_batch_features` of TFRecord files."""
    return read_batch_features(
        file_pattern,
        batch_size,
        features,
        TFRecordReader,
        randomize_input,
        num_epochs,
        queue_capacity,
        reader_num_threads=reader_num_threads,
        name=name,
    )


def queue_parsed_features(
    parsed_features: Mapping[str, Any],
    keys: Any = None,
    feature_queue_capacity: int = 100,
    num_enqueue_threads: int = 2,
    name: str | None = None,
) -> tuple[Any, dict[str, Any]]:
    """(keys, features) from a queue of whole batches of them, which `num_enqueue_threads` threads fill."""
    parts: list[Any] = []
    for _, value in sorted(parsed_features.items()):
        is_sparse = isinstance(value, SparseTensor)
        parts += [value.indices, value.values, value.dense_shape] if is_sparse else [value]
    parts += [] if keys is None else [keys]
    with name_scope(name, "queue_parsed_features", parts):
        queue = FIFOQueue(feature_queue_capacity, [part.dtype for part in parts])
        fraction: Any = cast(queue.size(), dtypes.float32)
        tag = f"queue/parsed_features/{queue.name}/fraction_of_{feature_queue_capacity}_full"
        scalar(tag, fraction * (1.0 / feature_queue_capacity))
        filling = [queue.enqueue(parts) for _ in range(num_enqueue_threads)]
        add_queue_runner(QueueRunner(queue, filling, queue_closed_exception_types=(OutOfRangeError, CancelledError)))
        given = queue.dequeue()
        taken = list(given) if isinstance(given, list | tuple) else [given]
        for one, part in zip(taken, parts, strict=True):
            one.set_shape(part.get_shape())
        rest, found = iter(taken), {}
        for key, value in sorted(parsed_features.items()):
            found[key] = SparseTensor(*(next(rest) for _ in range(3))) if isinstance(value, SparseTensor) else next(rest)
        return next(rest, None), found


def _files(pattern: Any, shuffled: bool) -> list[str]:
    if isinstance(pattern, list) and not pattern:
        raise ValueError("No files given to dequeue_examples.")
    found = [name for one in (pattern if isinstance(pattern, list) else [pattern]) for name in glob_files(one)]
    if not found:
        raise ValueError(f"No files match {pattern}.")
    return found if shuffled else sorted(found)


def _check_sizes(batch_size: Any, capacity: Any, num_threads: Any, read_batch_size: Any, num_epochs: Any) -> None:
    if not capacity or capacity <= 0:
        raise ValueError(f"Invalid queue_capacity {capacity}.")
    if batch_size is None or (not isinstance(batch_size, Tensor) and not 0 < batch_size < capacity):
        raise ValueError(f"Invalid batch_size {batch_size}, with queue_capacity {capacity}.")
    positive = {"read_batch_size": read_batch_size, "num_threads": num_threads}
    positive |= {} if num_epochs is None else {"num_epochs": num_epochs}
    for what, value in positive.items():
        if value is None or (not isinstance(value, Tensor) and value <= 0):
            raise ValueError(f"Invalid {what} {value}.")


def _read(reader: Any, files: FIFOQueue, many: int | None, parse: Callable[[Any], Any] | None) -> Any:
    keys, examples = reader.read(files) if many is None else reader.read_up_to(files, many)
    if parse is None:
        return keys, examples
    parsed = parse(examples)
    return {**parsed, _KEYS: keys} if isinstance(parsed, Mapping) else (keys, parsed)
