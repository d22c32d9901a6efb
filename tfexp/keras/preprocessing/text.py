"""`tf.keras.preprocessing.text`: words of texts as whole numbers."""

import hashlib
import json
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

PUNCTUATION = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'
_COUNTS = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")  # written as JSON inside the JSON


def text_to_word_sequence(text: str, filters: str = PUNCTUATION, lower: bool = True, split: str = " ") -> list[str]:
    """The words of a text. filters: characters to leave out (each separates words); split: what separates words."""
    if lower:
        text = text.lower()
    return [word for word in text.translate({ord(c): split for c in filters}).split(split) if word]


def one_hot(text: str, n: int, filters: str = PUNCTUATION, lower: bool = True, split: str = " ") -> list[int]:
    """Each word's number below `n` by Python's `hash` (not a one-hot vector, in spite of the name)."""
    return hashing_trick(text, n, hash_function=hash, filters=filters, lower=lower, split=split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: str | Callable[[str], int] | None = None,
    filters: str = PUNCTUATION,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Each word's number in [1, n) by a hash; two words may have the same.

    hash_function: None for Python's `hash` (differs from process to process), "md5" (does not), or a function.
    """
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        hash_function = _md5
    assert callable(hash_function)
    words = text_to_word_sequence(text, filters=filters, lower=lower, split=split)
    return [hash_function(word) % (n - 1) + 1 for word in words]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Numbers words (or characters) by their frequency in the texts it was fitted on: the most frequent is 1.

    num_words: only words numbered below it are used. oov_token: stands for unknown words and is number 1. A text may be a
    list of tokens already. Counts: word_counts (times in all), word_docs and index_docs (texts that have the word).
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = PUNCTUATION,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        if "nb_words" in kwargs:
            warnings.warn("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2)
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: defaultdict[str, int] = defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: defaultdict[int, int] = defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _tokens(self, text: str | Sequence[str]) -> Sequence[str]:
        if not self.char_level and not isinstance(text, list):
            assert isinstance(text, str)
            return text_to_word_sequence(text, self.filters, self.lower, self.split)
        if not self.lower:
            return text
        return [token.lower() for token in text] if isinstance(text, list) else text.lower()  # type: ignore[attr-defined]

    def fit_on_texts(self, texts: Iterable[str | Sequence[str]]) -> None:
        """Counts the texts' words, on top of those counted before, and numbers them anew."""
        for text in texts:
            self.document_count += 1
            tokens = self._tokens(text)
            for token in tokens:
                self.word_counts[token] = self.word_counts.get(token, 0) + 1
            for token in set(tokens):
                self.word_docs[token] += 1
        by_frequency = sorted(self.word_counts, key=self.word_counts.__getitem__, reverse=True)  # stable: first come
        words = [] if self.oov_token is None else [self.oov_token]
        self.word_index = {word: index for index, word in enumerate([*words, *by_frequency], 1)}
        self.index_word = {index: word for word, index in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Iterable[Iterable[int]]) -> None:
        """Counts in how many sequences of numbers each occurs; for `sequences_to_matrix` when there are no texts."""
        for sequence in sequences:
            self.document_count += 1
            for index in set(sequence):
                self.index_docs[index] += 1

    def texts_to_sequences(self, texts: Iterable[str | Sequence[str]]) -> list[list[int]]:
        """Each text as its words' numbers; unknown ones are left out, or are `oov_token`'s."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[str | Sequence[str]]) -> Iterator[list[int]]:
        """`texts_to_sequences`, one at a time."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            indices = (self._used(self.word_index.get(token)) or unknown for token in self._tokens(text))
            yield [index for index in indices if index is not None]

    def _used(self, index: int | None) -> int | None:
        return None if index is None or (self.num_words and index >= self.num_words) else index

    def sequences_to_texts(self, sequences: Iterable[Iterable[int]]) -> list[str]:
        """Each sequence's words, joined by a space; unknown numbers are left out, or are `oov_token`."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Iterable[int]]) -> Iterator[str]:
        """`sequences_to_texts`, one at a time."""
        for sequence in sequences:
            words = (self.index_word.get(self._used(index) or 0, self.oov_token) for index in sequence)
            yield " ".join(word for word in words if word is not None)

    def texts_to_matrix(self, texts: Iterable[str | Sequence[str]], mode: str = "binary") -> np.ndarray:
        """`sequences_to_matrix` of the texts' sequences."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Sequence[Sequence[int]], mode: str = "binary") -> np.ndarray:
        """What each number [sequences, num_words] counts in each sequence.

        mode: "binary" (whether it is there), "count", "freq" (its share), or "tfidf" ((1 + log count) log(1 + n / (1 +
        texts with it))). ValueError: neither num_words nor texts are known, or mode is another.
        """
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in {"binary", "count", "freq", "tfidf"}:
            raise ValueError("Unknown vectorization mode:", mode)
        width = self.num_words or len(self.word_index) + 1
        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        columns = np.array([index for sequence in sequences for index in sequence], np.int64)
        counts = np.zeros((len(lengths), width))
        used = columns < width
        np.add.at(counts, (rows[used], columns[used]), 1)
        if mode == "count":
            return counts
        if mode == "binary":
            return (counts > 0).astype(counts.dtype)
        if mode == "freq":
            return counts / np.maximum(lengths, 1)[:, np.newaxis]
        documents = np.array([self.index_docs.get(index, 0) for index in range(width)])
        tf = np.where(counts > 0, 1 + np.log(np.maximum(counts, 1)), 0)
        return tf * np.log(1 + self.document_count / (1 + documents))

    def get_config(self) -> dict[str, Any]:
        """The settings, and what was counted, as JSON."""
        counted = {name: json.dumps(getattr(self, name)) for name in _COUNTS}
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            **counted,
        }

    def to_json(self, **kwargs: Any) -> str:
        """The tokenizer with all it counted, for `tokenizer_from_json`; kwargs: for `json.dumps`."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that `to_json` wrote."""
    config = json.loads(json_string)["config"]
    counted = {name: json.loads(config.pop(name)) for name in _COUNTS}
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = OrderedDict(counted["word_counts"])
    tokenizer.word_docs = defaultdict(int, counted["word_docs"])
    tokenizer.index_docs = defaultdict(int, {int(index): count for index, count in counted["index_docs"].items()})
    tokenizer.word_index = counted["word_index"]
    tokenizer.index_word = {int(index): word for index, word in counted["index_word"].items()}
    return tokenizer
