"""Nodes that a heavy one computes besides its own: which do, and that others still see what lies between."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core.kernel import BindRequest, Call
from tfexp.plan.assign import Assignment
from tfexp.plan.passes import make_plan
from tfexp.runtime.device_list import CPU
from tfexp.runtime.executor import Interpreter

X, W, B = np.arange(-6, 6, dtype=np.float32).reshape(1, 2, 2, 3), np.ones((1, 1, 3, 2), np.float32), np.float32([2, -1])


class _Library:
    """Convolutions of 1x1 that take on a bias and then a Relu."""

    def convolve(self, *how: Any) -> Call:
        return self._call()

    def _call(self, *ends: str) -> Call:
        return Call(functools.partial(_compute, ends), out=True, followed_by=lambda node: self._longer(ends, node))

    def _longer(self, ends: tuple[str, ...], node: BindRequest) -> Call | None:
        wanted = ("BiasAdd", "Relu")
        return self._call(*ends, node.op_type) if (*ends, node.op_type) == wanted[: len(ends) + 1] else None


def _compute(ends: tuple[str, ...], x: np.ndarray, w: np.ndarray, *bias: np.ndarray, out: Any = None) -> np.ndarray:
    y = x @ w[0, 0]
    for end in ends:
        y = y + bias[0] if end == "BiasAdd" else np.maximum(y, 0)
    return y


@pytest.mark.parametrize(
    ("fetched", "left"),
    [
        (["relu"], {"Relu": 3}),
        (["bias"], {"BiasAdd": 3}),
        (["conv", "relu"], {"Conv2D": 2, "BiasAdd": 2, "Relu": 1}),
        (["bias", "relu"], {"BiasAdd": 3, "Relu": 1}),
        (["twice"], {"BiasAdd": 3, "Relu": 1, "AddV2": 2}),
    ],
)
def test_what_goes_in(fetched: list[str], left: dict[str, int]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, w, b = (tf.placeholder(tf.float32, array.shape) for array in (X, W, B))
        conv = tf.nn.conv2d(x, w, 1, "SAME", name="Conv2D")
        bias = tf.nn.bias_add(conv, b, name="BiasAdd")
        relu = tf.nn.relu(bias, name="Relu")
        values = {"conv": conv, "bias": bias, "relu": relu, "twice": tf.add(relu, bias, name="AddV2")}
        fetches = [values[name] for name in fetched]
        shapes = [array.shape for array in (x, w, b)]
        plan = make_plan(fetches, [], [x, w, b], shapes, Assignment([CPU]), True, libraries={"onednn": _Library()})
        computed = Interpreter(plan, session._backend.resources).run([X, W, B])
        expected = session.run(fetches, {x: X, w: W, b: B})
    assert {step.name: len(step.inputs) for step in plan.steps} == left
    for one, other in zip(computed, expected, strict=True):
        np.testing.assert_array_equal(one, other)
