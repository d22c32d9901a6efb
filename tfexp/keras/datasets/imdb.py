"""Reviews of films, good or bad, as numbers of words: 25,000 to train, 25,000 to test (Maas et al. 2011)."""

from typing import Any

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.datasets.words import as_objects, limited, marked, renamed_limit, without_long, word_index
from tfexp.keras.utils.files import get_file

_HASH = "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
_INDEX_HASH = "bfafd718b763782e994055a2d397834f"


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(lists of words' numbers, as objects [n]; 1 for good and 0 for bad [n]) to train and to test.

    num_words, skip_top: words from `skip_top` most frequent on, below `num_words`; others are `oov_char`, or left out when
    that is None. maxlen: only shorter texts. start_char: what each begins with. index_from: added to each number.
    """
    num_words = renamed_limit(num_words, kwargs)
    with np.load(get_file(path, origin=f"{PUBLISHED}imdb.npz", file_hash=_HASH), allow_pickle=True) as file:
        parts = [(file[f"x_{part}"], file[f"y_{part}"]) for part in ("train", "test")]
    generator = np.random.RandomState(seed)
    kept = []
    for x, y in parts:
        order = np.arange(len(x))
        generator.shuffle(order)
        kept.append(without_long(maxlen, marked(x[order], start_char, index_from), y[order]))
    (train, train_labels), (test, test_labels) = kept
    found = as_objects(limited(train + test, num_words, skip_top, oov_char))  # a limit of both together
    first = len(train)
    return (found[:first], np.array(train_labels)), (found[first:], np.array(test_labels))


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The number of each word, before `index_from` is added: 1 is the most frequent."""
    return word_index(path, "imdb_word_index.json", _INDEX_HASH)
