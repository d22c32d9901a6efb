"""Texts as numbers of words, which count from the most frequent: what `imdb` and `reuters` make of their files."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.utils.files import get_file


def renamed_limit(num_words: int | None, kwargs: Mapping[str, Any]) -> int | None:
    """`num_words`, or what is given by its older name `nb_words`, with a warning. TypeError for other keywords."""
    unknown = {name: value for name, value in kwargs.items() if name != "nb_words"}
    if unknown:
        raise TypeError(f"Unrecognized keyword arguments: {unknown}")
    if "nb_words" not in kwargs:
        return num_words
    # Shown where the program called `load_data`.
    warnings.warn("The `nb_words` argument in `load_data` has been renamed `num_words`.", stacklevel=3)
    return cast(int, kwargs["nb_words"])


def marked(sequences: Sequence[Any], start_char: int | None, index_from: int) -> list[list[int]]:
    """The sequences with `index_from` added to each number, and `start_char` before each, unless it is None."""
    begin = [] if start_char is None else [start_char]
    return [begin + [word + index_from for word in sequence] for sequence in sequences]


def without_long(maxlen: int | None, sequences: list[list[int]], labels: Any) -> tuple[list[list[int]], Any]:
    """Only those that are shorter than `maxlen`. ValueError: there is none."""
    if not maxlen:
        return sequences, labels
    kept = [(sequence, label) for sequence, label in zip(sequences, labels, strict=True) if len(sequence) < maxlen]
    if not kept:
        raise ValueError(
            f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. Increase maxlen."
        )
    return [sequence for sequence, _ in kept], [label for _, label in kept]


def limited(sequences: list[list[int]], num_words: int | None, skip_top: int, oov_char: int | None) -> list[list[int]]:
    """Only words in [skip_top, num_words); the others are `oov_char`, or left out when that is None.

    num_words: the largest number when None, which is itself beyond the limit then, as in Keras.
    """
    limit = num_words or max(max(sequence) for sequence in sequences)
    if oov_char is None:
        return [[word for word in sequence if skip_top <= word < limit] for sequence in sequences]
    return [[word if skip_top <= word < limit else oov_char for word in sequence] for sequence in sequences]


def as_objects(sequences: Sequence[list[int]]) -> np.ndarray:
    """The lists as an array of objects [n]."""
    found = np.empty(len(sequences), dtype=object)
    found[:] = sequences
    return found


def word_index(path: str, name: str, file_hash: str) -> dict[str, int]:
    """The number of each word: a JSON file below `~/.keras/datasets`."""
    found: dict[str, int] = json.loads(Path(get_file(path, origin=PUBLISHED + name, file_hash=file_hash)).read_text("utf-8"))
    return found
