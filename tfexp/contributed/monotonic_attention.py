"""Attention that only moves forward over a memory (https://arxiv.org/abs/1704.00784). Source: `tf.contrib.seq2seq`, TF 1.15.

A step looks at the memory's entries from where the last one stopped, and stops at entry j with probability p_j. So the
chance a_j that it attends to j comes of the last step's chances b:  a_j = p_j (Σ_{k ≤ j} b_k Π_{k ≤ l < j} (1 - p_l)).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tfexp.contributed.attention import BahdanauAttention, LuongAttention, MemoryAttention, layers_for
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.scopes import name_scope
from tfexp.ops.array import shape
from tfexp.ops.array_fill import one_hot, ones_like, zeros
from tfexp.ops.array_join import concat
from tfexp.ops.array_order import transpose
from tfexp.ops.cast import cast
from tfexp.ops.clip import clip_by_value
from tfexp.ops.cumulative import cumprod, cumsum
from tfexp.ops.elementwise_unary import exp, log, sigmoid
from tfexp.ops.functional import scan
from tfexp.ops.random import random_normal
from tfexp.ops.variable_scope import get_variable


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Any:
    """`tf.cumprod` of numbers in [0, 1], whose gradients are finite where they are 0. `tf.contrib.seq2seq.safe_cumprod`."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        least = np.finfo(x.dtype.as_numpy_dtype).tiny
        return exp(cumsum(log(clip_by_value(x, least, 1)), *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Any:
    """The chances of attending to each entry of a memory [batch, entries], of those of the step before.

    p_choose_i: of stopping at each entry. mode: "parallel" for one formula over all entries, which is not exact where
    products of probabilities come close to 0; "recursive" for one after the other; "hard" for probabilities that are 0 or 1.
    ValueError for another. Source: `tf.contrib.seq2seq.monotonic_attention`.
    """
    p: Any = convert_to_tensor(p_choose_i, name="p_choose_i")
    before: Any = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch = p.get_shape()[0].value or shape(p)[0]  # type: ignore[index]
        passed = concat([ones_like(p[:, :1]), 1 - p[:, :-1]], 1)
        arrived = scan(
            lambda here, step: step[0] * here + step[1],
            [transpose(passed), transpose(before)],
            zeros([batch], dtype=p.dtype),
        )
        attention: Any = p * transpose(arrived)
        attention.set_shape(p.get_shape())
        return attention
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        return p * passed * cumsum(before / clip_by_value(passed, 1e-10, 1.0), axis=1)
    if mode == "hard":
        p = p * cumsum(before, axis=1)
        return p * cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def monotonic_probabilities(
    score: Any, previous_alignments: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Any:
    """Alignments [batch, entries] of scores: their sigmoid, or in the mode "hard" their sign, says where attention stops."""
    if sigmoid_noise > 0:
        score += sigmoid_noise * random_normal(shape(score), dtype=score.dtype, seed=seed)
    p = cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p, previous_alignments, mode)


class MonotonicMemoryAttention(MemoryAttention):
    """Attention to a memory that begins at its first entry. Source: `_BaseMonotonicAttentionMechanism`."""

    _score_bias_init: float

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Any:
        """[batch, time]: all begin at the first entry."""
        return one_hot(zeros([batch_size], dtype="int32"), self.alignments_size, dtype=dtype)

    def _score(self, query: Any) -> Any:
        score = super()._score(query)
        return score + get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)


class BahdanauMonotonicAttention(MonotonicMemoryAttention, BahdanauAttention):
    """Monotonic attention with the scores of BahdanauAttention, plus a bias. `tf.contrib.seq2seq`.

    mode: of `monotonic_attention`. sigmoid_noise: the deviation of what is added to scores, which drives probabilities to 0
    or 1, so that the mode "hard" can follow in inference. score_bias_init: where their bias begins; the more negative, the
    less early attention stops.
    """

    _scope = "bahdanau_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ):
        MemoryAttention.__init__(  # whose function of probabilities takes the last alignments, too
            self,
            memory=memory,
            probability_fn=_probabilities(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
            **layers_for(num_units, dtype, "query_layer", "memory_layer"),
        )
        self._num_units, self._normalize, self._score_bias_init = num_units, normalize, score_bias_init


class LuongMonotonicAttention(MonotonicMemoryAttention, LuongAttention):
    """Monotonic attention with the scores of LuongAttention, plus a bias. `tf.contrib.seq2seq`.

    The other arguments are those of BahdanauMonotonicAttention.
    """

    _scope = "luong_monotonic_attention"

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ):
        MemoryAttention.__init__(
            self,
            None,
            memory,
            _probabilities(sigmoid_noise, mode, sigmoid_noise_seed),
            memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
            **layers_for(num_units, dtype, "memory_layer"),
        )
        self._num_units, self._scale, self._score_bias_init = num_units, scale, score_bias_init


def _probabilities(sigmoid_noise: float, mode: str, seed: int | None) -> Callable[[Any, Any], Any]:
    return partial(monotonic_probabilities, sigmoid_noise=sigmoid_noise, mode=mode, seed=seed)
