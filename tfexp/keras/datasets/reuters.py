"""Newswires of Reuters, 1987, in 46 topics, as numbers of words: 11,228 (Lewis et al.)."""

from typing import Any

import numpy as np

from tfexp.keras.datasets import PUBLISHED
from tfexp.keras.datasets.words import as_objects, limited, marked, renamed_limit, without_long, word_index
from tfexp.keras.utils.files import get_file

_HASH = "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
_INDEX_HASH = "4d44cc38712099c9e383dc6e5f11a921"


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """(lists of words' numbers, as objects [n]; topics [n]) to train and, the part `test_split`, to test.

    num_words, skip_top: words from `skip_top` most frequent on, below `num_words`; others are `oov_char`, or left out when
    that is None. maxlen: only shorter texts. start_char: what each begins with. index_from: added to each number.
    """
    num_words = renamed_limit(num_words, kwargs)
    with np.load(get_file(path, origin=f"{PUBLISHED}reuters.npz", file_hash=_HASH), allow_pickle=True) as file:
        x, y = file["x"], file["y"]
    order = np.arange(len(x))
    np.random.RandomState(seed).shuffle(order)
    kept, labels = without_long(maxlen, marked(x[order], start_char, index_from), y[order])
    found, answers = as_objects(limited(kept, num_words, skip_top, oov_char)), np.array(labels)
    first = int(len(found) * (1 - test_split))
    return (found[:first], answers[:first]), (found[first:], answers[first:])


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The number of each word, before `index_from` is added: 1 is the most frequent."""
    return word_index(path, "reuters_word_index.json", _INDEX_HASH)
