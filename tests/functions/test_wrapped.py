"""`tf.wrap_function`: functions of TF1's graphs, and parts of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


def scaled(x: Any) -> Any:
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(3.0))
    doubled = tf.multiply(x, 2.0, name="doubled")
    v.assign_add(1.0, name="add")
    return {"scaled": doubled * v}


def test_a_wrapped_function_keeps_its_variables_and_runs_what_is_needed() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        wrapped = tf.wrap_function(scaled, [tf.TensorSpec([None], tf.float32)])
        (v,) = wrapped.variables
        assert v.name == "v:0" and wrapped.outputs[0].shape.as_list() == [None]
        y = wrapped(tf.constant([1.0, 2.0]))["scaled"]
        session.run(v.initializer)
        for _ in range(2):
            np.testing.assert_array_equal(session.run(y), [6, 12])


def test_parts_of_a_wrapped_function_are_functions() -> None:
    with eager_mode():
        wrapped = tf.wrap_function(scaled, [tf.TensorSpec([], tf.float32)])
        doubled = wrapped.prune(wrapped.inputs[0], "doubled:0")
        assert doubled(tf.constant(4.0)).numpy() == 8
        add = wrapped.prune([], wrapped.graph.get_operation_by_name("add"))
        add()
        add()
        assert wrapped(tf.constant(1.0))["scaled"].numpy() == 10
        from_doubled = wrapped.prune("doubled:0", wrapped.outputs[0])
        with tf.GradientTape() as tape:
            y = from_doubled(tf.constant(1.0))
        assert y.numpy() == 5 and tape.gradient(y, wrapped.variables[0]).numpy() == 1
        with pytest.raises(ValueError, match="prune takes tensors of its own graph"):
            wrapped.prune(tf.constant(1.0), "doubled:0")


def test_a_wrapped_function_has_scopes_variables_and_collections_of_its_own() -> None:
    seen: list[Any] = []

    def body() -> Any:
        with tf.variable_scope("s"):
            v = tf.get_variable("v", [], regularizer=lambda v: v * 2.0)
        with tf.variable_scope("s", reuse=True):
            seen.append((v is tf.get_variable("v", []), v.name, [x is v for x in tf.global_variables()]))
        seen.append([x.name for x in tf.trainable_variables()])
        with tf.variable_scope("s"), pytest.raises(ValueError, match="Variable s/v already exists"):
            tf.get_variable("v", [])
        return tf.losses.get_regularization_loss() / v

    with eager_mode(), tf.variable_scope("around"):
        for _ in range(2):  # each has its own
            assert tf.wrap_function(body, [])().numpy() == 2
        assert seen == [(True, "s/v:0", [True]), ["s/v:0"]] * 2
        assert tf.global_variables() == []


def test_what_is_no_spec_is_an_argument_as_it_is() -> None:
    with eager_mode():
        wrapped = tf.wrap_function(lambda x, power: x ** len(power), [tf.TensorSpec([], tf.float32), "ab"])
        assert wrapped(tf.constant(3.0)).numpy() == 9
