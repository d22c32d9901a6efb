"""Converted programs, in a graph and on Python's numbers, against Python."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.autograph.programs import PROGRAMS
from tests.autograph.tensor_programs import RECORDED
from tfexp.autograph import convert

every_program = pytest.mark.parametrize(("function", "inputs"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])


def _flat(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in _flat(part)] if isinstance(value, tuple) else [value]


@every_program
def test_a_graph_computes_what_python_does(function: Callable[..., Any], inputs: list[tuple[Any, ...]]) -> None:
    converted = convert(function)
    with tf.Graph().as_default(), tf.Session() as session:
        placeholders = [tf.placeholder(tf.int32, [None] * np.ndim(value)) for value in inputs[0]]
        result = [tf.convert_to_tensor(leaf) for leaf in _flat(converted(*placeholders))]
        for values in inputs:
            found = session.run(result, dict(zip(placeholders, values, strict=True)))
            assert [f.tolist() for f in found] == _flat(function(*values)), values


@every_program
def test_python_values_stay_pythons(function: Callable[..., Any], inputs: list[tuple[Any, ...]]) -> None:
    converted = convert(function)
    for values in inputs:
        assert converted(*values) == function(*values)


@pytest.mark.parametrize(("function", "results"), RECORDED, ids=[p[0].__name__ for p in RECORDED])
def test_graphs_give_what_tensorflows_do(function: Callable[..., Any], results: list[Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32, [])
        outputs = [tf.convert_to_tensor(leaf) for leaf in tf.nest.flatten(convert(function)(x))]
        session.run(tf.global_variables_initializer())
        for value, expected in zip((5, 1, 0), results, strict=True):
            found = [np.asarray(part).tolist() for part in session.run(outputs, {x: value})]
            found = [part.decode() if isinstance(part, bytes) else part for part in found]
            assert (found if len(found) > 1 else found[0]) == expected, value
