"""Skip-grams of text, of the words in a vocabulary. Source: `tf.contrib.text`, TF 1.15."""

from __future__ import annotations

import csv
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.random_seed import get_seed
from tfexp.graph.scopes import name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array import shape
from tfexp.ops.array_mask import boolean_mask
from tfexp.ops.cast import cast
from tfexp.ops.comparison import greater_equal, less_equal, not_equal
from tfexp.ops.elementwise_unary import sqrt
from tfexp.ops.logical import logical_and
from tfexp.ops.lookup import HashTable, InitializableLookupTableBase
from tfexp.ops.lookup_initializers import TextFileInitializer
from tfexp.ops.random import random_uniform
from tfexp.ops.skip_grams import skip_gram_op
from tfexp.train.batching import batch

_BATCHES_QUEUED = 100


def skip_gram_sample(
    input_tensor: Any,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    vocab_freq_table: Any = None,
    vocab_min_count: Any = None,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(tokens, labels), vectors as long as each other: every token with those at most so many places away.

    How many is drawn for each token, from min_skips to max_skips. Tokens: those of the vector `input_tensor` from `start`
    on, `limit` of them unless -1. vocab_freq_table: token -> how often it occurs; others are left out, as are those that
    occur less than vocab_min_count times. vocab_subsampling: the share of the corpus beyond which tokens are left out now
    and then, by equation 5 of arXiv 1310.4546. batch_size: of batches from a queue of `batch_capacity` pairs. ValueError
    for arguments without those that they need, InvalidArgumentError in the run for numbers of skips that are none.
    """
    of_vocabulary = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(given is not None for given in of_vocabulary):
        raise ValueError(
            f"vocab_freq_table is not provided, but vocab_min_count={vocab_min_count}, "
            f"vocab_subsampling={vocab_subsampling}, or corpus_size={corpus_size} is not None: they are for a table"
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size}: both are needed")
    with name_scope(name, "skip_gram_sample", [input_tensor, min_skips, max_skips, start, limit]):
        tokens: Any = input_tensor
        if vocab_freq_table is not None:
            tokens = _of_vocabulary(tokens, vocab_freq_table, vocab_min_count, vocab_subsampling, corpus_size, seed)
        seed1, seed2 = get_seed(seed)
        pairs = skip_gram_op(
            tokens, min_skips, max_skips, start, limit, emit_self_as_target, seed=seed1 or 0, seed2=seed2 or 0
        )
        if not batch_size or batch_size < 0:
            return tuple(pairs)
        capacity = batch_capacity if batch_capacity and batch_capacity > 0 else _BATCHES_QUEUED * batch_size
        return batch(list(pairs), batch_size, capacity=capacity, enqueue_many=True)


def _of_vocabulary(tokens: Any, table: Any, min_count: Any, subsampling: Any, corpus_size: Any, seed: int | None) -> Tensor:
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError(f"vocab_freq_table must be a table with an initializer, such as HashTable, not {type(table)}")
    with name_scope("filter_vocab"):
        tokens = convert_to_tensor(tokens)
        count: Any = table.lookup(tokens)
        known = not_equal(count, table.default_value)
        if min_count is not None:
            known = logical_and(known, greater_equal(count, cast(min_count, count.dtype)))
        tokens, count = boolean_mask(tokens, known), boolean_mask(count, known)
    if not subsampling:
        return tokens
    if not 0 <= subsampling <= 1:
        raise ValueError(f"Invalid vocab_subsampling={subsampling} - it should be within range [0, 1].")
    with name_scope("subsample_vocab"):
        enough: Any = cast(subsampling, dtypes.float64) * cast(corpus_size, dtypes.float64)
        count = cast(count, dtypes.float64)
        kept = (sqrt(count / enough) + 1.0) * (enough / count)
        drawn = random_uniform(shape(count), 0, 1, dtypes.float64, seed=seed)
        return boolean_mask(tokens, less_equal(drawn, kept))


def skip_gram_sample_with_text_vocab(
    input_tensor: Any,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: Any = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: Any = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: Any = 0,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """As `skip_gram_sample`, with the vocabulary of a file: a column has the tokens, another how often each occurs.

    corpus_size: by default the sum of the counts. ValueError for columns that are not there, or the same, for negative
    counts, and for a corpus_size that is less than their sum.
    """
    if vocab_token_index < 0 or vocab_freq_index < 0:
        raise ValueError(f"vocab_token_index={vocab_token_index} and vocab_freq_index={vocab_freq_index} must both be >= 0.")
    if vocab_token_index == vocab_freq_index:
        raise ValueError(f"vocab_token_index and vocab_freq_index should be different, but are both {vocab_token_index}.")
    counts = []
    with open(vocab_freq_file, newline="", encoding="utf-8") as file:
        for row in csv.reader(file, delimiter=vocab_delimiter):
            if max(vocab_token_index, vocab_freq_index) >= len(row):
                raise ValueError(
                    f"Row in vocab file only has {len(row)} columns, so vocab_token_index={vocab_token_index} or "
                    f"vocab_freq_index={vocab_freq_index} is out of bounds. Row content: {row}"
                )
            counts.append(vocab_freq_dtype.as_numpy_dtype(row[vocab_freq_index]))
            if counts[-1] < 0:
                raise ValueError(f"Row in vocab file has negative frequency of {counts[-1]}. Row content: {row}")
    total = sum(counts)
    if corpus_size and total - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the frequency counts ({total}) of "
            f"`vocab_freq_file` ({vocab_freq_file})."
        )
    initializer = TextFileInitializer(
        vocab_freq_file,
        vocab_token_dtype,
        vocab_token_index,
        vocab_freq_dtype,
        vocab_freq_index,
        vocab_size=len(counts),
        delimiter=vocab_delimiter,
    )
    return skip_gram_sample(
        input_tensor,
        min_skips,
        max_skips,
        start,
        limit,
        emit_self_as_target,
        HashTable(initializer, -1),
        vocab_min_count,
        vocab_subsampling,
        None if vocab_subsampling is None else corpus_size or total,
        batch_size,
        batch_capacity,
        seed,
        name,
    )
