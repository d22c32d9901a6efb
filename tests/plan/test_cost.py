"""Estimates from ops and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import workers
from tfexp.plan import cost

ROWS, COLUMNS, SOME = 40_009, 127, 31


def changes(table: Any, rows: Any) -> Any:
    return tf.scatter_sub(table, np.arange(SOME), rows).op


def changes_sparsely(table: Any, rows: Any) -> Any:
    gradient = tf.IndexedSlices(rows, tf.constant(np.arange(SOME)), tf.constant([ROWS, COLUMNS]))
    return tf.train.AdagradOptimizer(0.1).apply_gradients([(gradient, table)])


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = workers._team
    monkeypatch.setattr("tfexp.runtime.cpu._install_workers", lambda wanted: None)
    workers.install(workers.Team(2))
    yield
    workers.install(before)


@pytest.mark.parametrize(
    "use",
    [
        lambda table, rows: tf.gather(table, tf.constant(np.arange(SOME))),
        changes,
        changes_sparsely,
    ],
    ids=["gather", "scatter", "sparse apply"],
)
def test_of_a_table_only_the_rows_that_are_needed_cost_something(
    use: Callable[[Any, Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, float] = {}
    original = cost.seconds

    def seconds(node: Any) -> float:
        found[node.type] = original(node)
        return found[node.type]

    monkeypatch.setattr("tfexp.plan.strands.seconds", seconds)
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.Variable(tf.zeros([ROWS, COLUMNS]), name="table")
        rows = tf.placeholder(tf.float32, [SOME, COLUMNS])
        used = use(table, rows)
        session.run(tf.global_variables_initializer())
        found.clear()
        session.run(used, {rows: np.ones([SOME, COLUMNS], np.float32)})
    kinds = [kind for kind in found if kind.startswith(("Gather", "Scatter", "SparseApply"))]
    assert kinds, found
    assert 0 < max(found[kind] for kind in kinds) < 20 * SOME * COLUMNS * 1e-9
