"""Steps whose kernels share the cores: what of them is shared, and that nothing else changes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.plan import share as share_pass


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Two threads, everything worth sharing; the numbers of threads that BLAS was given."""
    monkeypatch.setattr(share_pass, "_WORTH_SHARING", 1)
    before = workers._team
    seen: list[int] = []
    tf.Session(graph=tf.Graph()).close()
    monkeypatch.setattr("tfexp.runtime.cpu._install_workers", lambda wanted: None)
    workers.install(workers.Team(2, seen.append, lambda: None))
    yield seen
    workers.install(before)


def _network(x: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> list[tf.Tensor]:
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b))
    loss = tf.reduce_sum(tf.square(y) * 0.5)
    return [y, *tf.gradients(loss, [x, w, b])]


def test_shared_steps_compute_the_same(team: list[int]) -> None:
    random = np.random.default_rng(1)
    x, w, b = random.standard_normal((5, 4, 3, 2)), random.standard_normal((3, 3, 2, 3)), random.standard_normal(3)
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.placeholder(tf.float64, a.shape) for a in (x, w, b)]
        results = _network(*feeds)
        first, second = (session.run(results, dict(zip(feeds, (x, w, b), strict=True))) for _ in range(2))
    for a, e in zip(second, first, strict=True):
        np.testing.assert_allclose(a, e, rtol=1e-12)
    assert team[0] == 1 and team[-1] == 2, "BLAS keeps to one thread while the step runs, and has two after it"


def test_other_steps_leave_blas_alone(team: list[int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.nn.relu(
            tf.matmul(tf.placeholder_with_default(np.ones((3, 5), np.float32), [3, 5]), np.ones((5, 2), np.float32))
        )
        for _ in range(3):
            session.run(y)
    assert team == []
