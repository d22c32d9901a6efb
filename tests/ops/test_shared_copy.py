"""Large copies by several threads, and the ops that make them: Reshape of transposed arrays, ConcatV2, Tile, Pad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.ops import array, array_join, shared_copy


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two threads, for everything; how many parts there were."""
    parts: list[int] = []

    def share(work: workers.Work, count: int) -> int:
        parts.append(2)
        work(0, 0, count // 2)
        work(1, count // 2, count)
        return 2

    monkeypatch.setattr(shared_copy, "share", share)
    monkeypatch.setattr(shared_copy, "threads", lambda: 2)
    monkeypatch.setattr(shared_copy, "_WORTH_SHARING", 1)
    monkeypatch.setattr(shared_copy, "_WORTH_SHARING_IN_ORDER", 1)
    monkeypatch.setattr(array, "_MANY", 1)
    monkeypatch.setattr(array_join, "_WORTH_COPYING_APART", 1)
    return parts


@pytest.mark.parametrize("dims", [(7,), (1, 5), (3, 1, 2), (1, 1), ()])
def test_every_element_is_copied_once(shared: list[int], dims: tuple[int, ...]) -> None:
    source = np.arange(np.prod(dims, dtype=int), dtype=np.int32).reshape(dims)
    target = np.full(dims, -1, np.int32)
    assert shared_copy.copy_into(target, source) is target
    np.testing.assert_array_equal(target, source)
    shared_copy.copy_into(target, np.int32(5))
    assert (target == 5).all()
    assert len(shared) == (2 if max(dims, default=0) > 1 else 0)


X = np.random.default_rng(7).standard_normal((5, 3, 2)).astype(np.float32)


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda x: tf.reshape(tf.transpose(x), [6, 5]), X.T.reshape(6, 5)),
        (lambda x: tf.reshape(x, [6, 5]), X.reshape(6, 5)),
        (lambda x: tf.concat([x, x * 2], 1), np.concatenate([X, X * 2], 1)),
        (lambda x: tf.concat([x, x, x], -1), np.concatenate([X] * 3, -1)),
        (lambda x: tf.tile(x, [2, 1, 3]), np.tile(X, [2, 1, 3])),
        (lambda x: tf.tile(x, [2, 0, 3]), np.tile(X, [2, 0, 3])),
        (lambda x: tf.pad(x, [[1, 2], [0, 0], [0, 3]]), np.pad(X, [[1, 2], [0, 0], [0, 3]])),
        (
            lambda x: tf.pad(x, [[0, 1], [2, 0], [1, 1]], constant_values=7),
            np.pad(X, [[0, 1], [2, 0], [1, 1]], constant_values=7),
        ),
    ],
)
def test_ops_that_copy(shared: list[int], make: Callable[[Any], Any], wanted: np.ndarray) -> None:
    x = tf.placeholder(tf.float32, X.shape)
    value = make(x)
    with tf.Session() as session:
        for _ in range(3):
            np.testing.assert_array_equal(session.run(value, {x: X}), wanted)
            np.testing.assert_array_equal(session.run(value + 1, {x: X}), wanted + 1)  # in a buffer of the plan


def test_small_steps_do_not_wake_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_copy, "share", lambda work, count: pytest.fail("shared"))
    x = tf.constant(X)
    with tf.Session() as session:
        session.run([tf.tile(x, [2, 2, 2]), tf.pad(x, [[1, 1]] * 3), tf.concat([x, x], 0)])
