"""Texts as rows of numbers. Source: `tf.contrib.learn.preprocessing`, TF 1.15."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+")


def tokenizer(iterator: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in iterator:
        yield _WORD.findall(text)


class CategoricalVocabulary:
    """Numbers for categories, in the order in which they come; 0 stands for all that are unknown."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True):
        self._unknown, self._is_frozen, self._has_reverse = unknown_token, False, support_reverse
        self._mapping: dict[Any, int] = {unknown_token: 0}
        self._counts: Counter[Any] = Counter()

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From now on (or no longer) unknown categories are no new ones."""
        self._is_frozen = freeze

    def get(self, category: Any) -> int:
        """Its number; one more, if it is new and new ones are taken."""
        if category not in self._mapping:
            if self._is_frozen:
                return 0
            self._mapping[category] = len(self._mapping)
        return self._mapping[category]

    def add(self, category: Any, count: int = 1) -> None:
        """Count a category. Unknown ones do not count when it is frozen."""
        if self.get(category):
            self._counts[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep those that came more than `min_frequency` times, and (unless -1) less than `max_frequency`.

        Their numbers follow how often they came, and then their order.
        """
        kept = [
            category
            for category, count in sorted(
                self._counts.items(), key=lambda item: (-item[1], isinstance(item[0], str), item[0])
            )
            if count > min_frequency and (max_frequency <= 0 or count < max_frequency)
        ]
        self._mapping = {self._unknown: 0, **{category: i for i, category in enumerate(kept, 1)}}
        self._counts = Counter({category: self._counts[category] for category in kept})

    def reverse(self, class_id: int) -> Any:
        """The category of a number. IndexError where there is none; ValueError without `support_reverse`."""
        if not self._has_reverse:
            raise ValueError("This vocabulary was made without support_reverse, so that reverse() is not there.")
        return list(self._mapping)[class_id]


class VocabularyProcessor:
    """Texts as rows of `max_document_length` numbers of words, cut or filled up with zeros.

    min_frequency: words that come no more often are unknown. vocabulary: one to begin with, or to use, when frozen.
    tokenizer_fn: makes of texts their words.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: CategoricalVocabulary | None = None,
        tokenizer_fn: Callable[[Iterable[str]], Iterator[Sequence[str]]] | None = None,
    ):
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = CategoricalVocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learn the words, and take no more."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[np.ndarray]:
        """`fit`, and the rows of the same texts (which are gone through twice)."""
        return self.fit(raw_documents).transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[np.ndarray]:
        """An int64 row for each text."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            known = [self.vocabulary_.get(word) for word in words[: self.max_document_length]]
            row[: len(known)] = known
            yield row

    def reverse(self, documents: Iterable[Iterable[int]]) -> Iterator[str]:
        """The texts of rows, words apart by blanks."""
        for row in documents:
            yield " ".join(str(self.vocabulary_.reverse(number)) for number in row)

    def save(self, filename: Any) -> None:
        """Write it to a file, by pickle."""
        Path(filename).write_bytes(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: Any) -> VocabularyProcessor:
        """The one that `save` wrote. Only for files that can be trusted: pickles run code."""
        found: VocabularyProcessor = pickle.loads(Path(filename).read_bytes())
        return found
