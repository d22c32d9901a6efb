"""Gradients of parts, added up: which are laid side by side, and that every bit stays as it is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.plan.groups import FUSED
from tfexp.plan.lay import _are_apart
from tfexp.runtime.executor import Interpreter

Parts = Callable[[tf.Tensor], list[tf.Tensor]]
SHAPE = (5, 7)
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0])


def outcomes(parts: Parts, dtype: Any = np.float32, also: int = 0) -> tuple[list[Any], list[Any], int]:
    """The gradient of what is made of parts, as single nodes and as the plan compute it, and how many nodes are sums.

    `also`: how many of the parts' own gradients are fetched.
    """
    random = np.random.default_rng(3)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype, SHAPE)
        chosen = parts(x)
        above = [tf.placeholder(dtype, part.shape) for part in chosen]
        total = tf.gradients(chosen, x, above)[0]
        fetches = [total, *total.op.inputs[:also]]
        with np.errstate(invalid="ignore"):
            feeds = {t: random.choice(SPECIAL, t.shape.as_list()).astype(dtype) for t in above}
        one_by_one = session._backend.prepare(fetches, [], list(feeds)).plan(None, optimise=False)
        expected = Interpreter(one_by_one, session._backend.resources).run(list(feeds.values()))
        planned = [session.run(fetches, feeds) for _ in range(3)][-1]
        steps = session.explain(fetches, feeds).plan.steps
    return list(expected), planned, sum(step.op is FUSED for step in steps)


@pytest.mark.parametrize(
    "parts",
    [
        lambda x: [tf.slice(x, [0, 0], [2, 7]), tf.slice(x, [2, 0], [3, 7])],
        lambda x: [x[:, :3], x[:, 3:]],
        lambda x: [x[3:], tf.slice(x, [0, 2], [3, 4]), x[1, :1]],
        lambda x: [x[0], x[-1], x[1:-1, None, 2]],
        lambda x: [x[0, 0], x[4, 6], x[2:2]],
        lambda x: [x[i, j : j + 3] for j in (4, 0) for i in range(5)],
    ],
    ids=["rows", "columns", "with a gap", "fewer and more axes", "numbers", "a grid"],
)
def test_parts_that_share_places_out_are_laid_side_by_side(parts: Parts) -> None:
    for dtype in (np.float32, np.float16, np.complex64):
        (expected,), (planned,), sums = outcomes(parts, dtype)
        assert planned.dtype == dtype and planned.tobytes() == expected.tobytes()
        assert sums == 1


@pytest.mark.parametrize(
    ("parts", "also"),
    [
        (lambda x: [x[:3], x[2:]], 0),
        (lambda x: [x[::2], x[1::2]], 0),
        (lambda x: [x[::-1], x[:0]], 0),
        (lambda x: [x[:2], tf.identity(x)], 0),
        (lambda x: [x[:2, :4], x[:3, 4:], x[3:, 3:], x[2:, :3]], 0),
        (lambda x: [x[:2], x[2:]], 1),
    ],
    ids=["overlapping", "in turn", "backwards", "with the whole", "like sails", "fetched"],
)
def test_other_sums_stay_sums(parts: Parts, also: int) -> None:
    expected, planned, sums = outcomes(parts, also=also)
    assert [p.tobytes() for p in planned] == [e.tobytes() for e in expected]
    assert sums == 0


def test_there_may_be_more_cuts_within_each_other_than_python_has_stack() -> None:
    size = sys.getrecursionlimit() // 3
    rows = [(slice(i, i + 1), slice(i, size)) for i in range(size)]
    columns = [(slice(i + 1, size), slice(i, i + 1)) for i in range(size - 1)]
    assert _are_apart([*rows, *columns])
