"""`tf.keras.preprocessing.sequence`: padding, sampling and windows of sequences."""

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.keras.utils.data import Sequence as BatchSequence

_EULER_GAMMA = 0.577  # Keras rounds it; a sampling table depends on every digit


def pad_sequences(
    sequences: Sequence[Any],
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Sequences of unequal length as one array [n, maxlen, ...], filled up with `value`.

    maxlen: the longest sequence's length when None.
    padding, truncating: "pre" or "post": at which end to fill up, or to cut off.
    ValueError: what is given is no list of sequences, or their entries differ in shape.
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for entry in sequences:
        if not hasattr(entry, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {entry}")
    if maxlen is None:
        maxlen = max((len(entry) for entry in sequences), default=0)
    sample_shape = next((np.asarray(entry).shape[1:] for entry in sequences if len(entry)), ())
    is_text = np.issubdtype(dtype, np.str_)
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\n"
            "You should set `dtype=object` for variable length strings."
        )
    padded = np.full((len(sequences), maxlen, *sample_shape), value, dtype=dtype)
    for position, entry in enumerate(sequences):
        if not len(entry):
            continue
        if truncating not in {"pre", "post"}:
            raise ValueError(f'Truncating type "{truncating}" not understood')
        kept = np.asarray(entry[-maxlen:] if truncating == "pre" else entry[:maxlen], dtype=dtype)
        if kept.shape[1:] != sample_shape:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {position} is different from expected shape "
                f"{sample_shape}"
            )
        if padding == "post":
            padded[position, : len(kept)] = kept
        elif padding == "pre":
            padded[position, maxlen - len(kept) :] = kept
        else:
            raise ValueError(f'Padding type "{padding}" not understood')
    return padded


def make_sampling_table(size: int, sampling_factor: float = 1e-05) -> np.ndarray:
    """The probability [size] with which word2vec keeps a word of that frequency rank (Zipf's law is assumed)."""
    rank = np.arange(size)
    rank[0] = 1
    inverse_frequency = rank * (np.log(rank) + _EULER_GAMMA) + 0.5 - 1.0 / (12.0 * rank)
    f = sampling_factor * inverse_frequency
    return np.minimum(1.0, f / np.sqrt(f))


def skipgrams(
    sequence: Sequence[int],
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Sequence[float] | None = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs (word, another of its window) with label 1 and pairs (word, random word) with label 0.

    Word 0 is none and is passed over. negative_samples: so many random pairs for each true one. categorical: labels are
    [0, 1] and [1, 0]. The random numbers are those of the module `random`.
    """
    true, false = ([0, 1], [1, 0]) if categorical else (1, 0)
    couples = []
    for i, word in enumerate(sequence):
        if not word or (sampling_table is not None and sampling_table[word] < random.random()):
            continue
        first = max(0, i - window_size)
        window = sequence[first : i + window_size + 1]
        couples += [[word, other] for j, other in enumerate(window, first) if j != i and other]
    labels: list[Any] = [true] * len(couples)
    if negative_samples > 0:
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        count = int(len(labels) * negative_samples)
        couples += [[words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)]
        labels += [false] * count
    if shuffle:
        if seed is None:
            seed = random.randint(0, 10_000_000)
        for rows in (couples, labels):  # both in the same order
            random.seed(seed)
            random.shuffle(rows)
    return couples, labels


class TimeseriesGenerator(BatchSequence):
    """Batches of windows of a time series: (data[row - length : row : sampling_rate], targets[row]).

    data: an array or list [time, ...]; targets: as long. stride: steps between two windows. shuffle: rows are drawn by
    NumPy's global generator. reverse: each window runs backwards. Batch: [batch, length / sampling_rate, ...], [batch, ...].
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while target length is "
                f"{len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is disallowed, as no part of the "
                "sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        step = self.batch_size * self.stride
        return (self.end_index - self.start_index + step) // step

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            step = self.batch_size * self.stride
            first = self.start_index + step * index
            rows = np.arange(first, min(first + step, self.end_index + 1), self.stride)
        samples = np.array([self.data[row - self.length : row : self.sampling_rate] for row in rows])
        return samples[:, ::-1] if self.reverse else samples, np.array([self.targets[row] for row in rows])

    def get_config(self) -> dict[str, Any]:
        """What made this generator; data and targets as JSON. TypeError: they cannot be written as JSON."""
        as_json = {}
        for name, rows in (("data", self.data), ("targets", self.targets)):
            plain = rows.tolist() if type(rows).__module__ == np.__name__ else rows
            try:
                as_json[name] = json.dumps(plain)
            except TypeError as error:
                raise TypeError(f"{name.capitalize()} not JSON Serializable: {plain}") from error
        return {
            **as_json,
            "length": self.length,
            "sampling_rate": self.sampling_rate,
            "stride": self.stride,
            "start_index": self.start_index,
            "end_index": self.end_index,
            "shuffle": self.shuffle,
            "reverse": self.reverse,
            "batch_size": self.batch_size,
        }

    def to_json(self, **kwargs: Any) -> str:
        """The configuration and the class's name as JSON; kwargs: for `json.dumps`."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)
