"""Which seeds a random op gets. The same against TensorFlow itself: golden program `random.seeds`."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import tfexp as tf
from tfexp.graph import random_seed
from tfexp.graph.random_seed import DEFAULT_GRAPH_SEED, get_seed, set_random_seed

LIMIT = 2**31 - 1


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "expected"),
    [
        (None, None, (None, None)),
        (None, 0, (DEFAULT_GRAPH_SEED, 0)),
        (None, -5, (DEFAULT_GRAPH_SEED, LIMIT - 5)),
        (1, None, (1, 0)),
        (1, 7, (1, 7)),
        (-1, 2**35, (LIMIT - 1, 16)),
        (2**40, LIMIT, (512, 0)),
        (0, 0, (0, LIMIT)),
        (0, None, (0, LIMIT)),
        (LIMIT, LIMIT, (0, LIMIT)),
    ],
)
def test_two_levels_of_seeds(graph_seed: Any, op_seed: Any, expected: Any) -> None:
    with tf.Graph().as_default():
        set_random_seed(graph_seed)
        assert get_seed(op_seed) == expected


def test_ops_without_a_seed_are_numbered_in_each_graph() -> None:
    first, second = tf.Graph(), tf.Graph()
    with first.as_default():
        set_random_seed(5)
        assert [get_seed(None), get_seed(9), get_seed(None)] == [(5, 0), (5, 9), (5, 1)]
    with second.as_default():
        set_random_seed(5)
        assert get_seed(None) == (5, 0)
    with first.as_default():
        set_random_seed(6)
        assert get_seed(None) == (6, 2)


def test_a_seed_is_a_number() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match="must be a number, got 'one'"):
        get_seed("one")  # type: ignore[arg-type]


@pytest.mark.usefixtures("only_new_garbage")
def test_a_graph_is_not_kept_alive_by_its_numbering() -> None:
    gc.collect()
    before = len(random_seed._ops_numbered)
    graph = tf.Graph()
    with graph.as_default():
        set_random_seed(5)
        get_seed(None)
    assert len(random_seed._ops_numbered) == before + 1
    del graph
    gc.collect()
    assert len(random_seed._ops_numbered) == before
