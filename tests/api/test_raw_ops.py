"""`tf.raw_ops` has TensorFlow's parameters, op for op, and its errors."""

from __future__ import annotations

import ast

import pytest

import tfexp as tf
from tests.golden.record_raw_ops import parameters, recorded
from tfexp.core.later_attrs import OPS_BY_ATTR

LATER = {(op, attr) for attr, ops in OPS_BY_ATTR.items() for op in ops.split()}


def written(default: str | None) -> object:
    """A default as a value where it is one of Python's: some numbers are written 6, others 6.0."""
    try:
        return None if default is None else [ast.literal_eval(default)]
    except (SyntaxError, ValueError):
        return default


def test_parameters_are_tensorflows():
    expected = recorded()
    wrong = {}
    for name in dir(tf.raw_ops):
        if name not in expected:  # of `tf.contrib`, whose ops 2.x does not have
            continue
        ours = {key: written(default) for key, default in parameters(getattr(tf.raw_ops, name)).items()}
        theirs = {
            key: written(default) for key, default in expected[name].items() if key in ours or (name, key) not in LATER
        }
        if list(ours.items()) != list(theirs.items()):
            wrong[name] = (ours, theirs)
    assert not wrong


def test_an_ops_renamed_parameters_reach_it():
    with tf.Session() as session:
        halves = tf.raw_ops.Split(axis=0, value=[1.0, 2.0, 3.0, 4.0], num_split=2, name="halves")
        assert halves[0].op.name == "halves"
        total = tf.raw_ops.Sum(input=halves[1], axis=0, keep_dims=None)
        chosen = tf.raw_ops.Select(condition=[True, False], x=halves[0], y=halves[1])
        squeezed = tf.raw_ops.Squeeze(input=tf.raw_ops.ExpandDims(input=chosen, axis=0), axis=[0])
        assert session.run(total) == 7
        assert session.run(squeezed).tolist() == [1, 4]
        assert session.run(tf.raw_ops.Where(condition=[False, True])).tolist() == [[1]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.raw_ops.Abs([1.0]), r"Abs only takes keyword args \(possible keys: \['x', 'name'\]\)"),
        (lambda: tf.raw_ops.Abs(y=[1.0]), r"Abs\(\) got an unexpected keyword argument 'y'"),
        (lambda: tf.raw_ops.Abs(x=[1.0], T=tf.float32), r"Abs\(\) got an unexpected keyword argument 'T'"),
        (lambda: tf.raw_ops.Abs(), r"Abs\(\) missing 1 required positional argument: 'x'"),
        (lambda: tf.raw_ops.Split(), r"missing 3 required positional arguments: 'axis', 'value', and 'num_split'"),
        (lambda: tf.raw_ops.Split(value=[1.0]), r"missing 2 required positional arguments: 'axis' and 'num_split'"),
    ],
)
def test_wrong_arguments_are_type_errors(call, message):
    with pytest.raises(TypeError, match=message):
        call()
