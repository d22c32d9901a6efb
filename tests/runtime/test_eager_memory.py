"""Eager execution keeps nothing that its program has let go of."""

import contextlib
import gc
import sys
import weakref

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_what_an_op_is_given_by_name_is_not_kept():
    x = tf.zeros([2])
    before = sys.getrefcount(x)
    tf.raw_ops.AddV2(x=x, y=x)
    assert sys.getrefcount(x) == before


def test_what_has_no_name_of_its_own_is_kept_by_nobody():
    world = tf.get_default_graph()
    for seed in range(3):
        assert len(list(tf.data.Dataset.from_tensor_slices([1, 2]))) == 2
        tf.random_normal([2], seed=seed)
    assert not any(world.resources._containers.values())
    assert not world.resources._node_states


def test_functions_that_nobody_can_call_any_more_are_gone():
    world = tf.get_default_graph()
    for number in range(3):
        one = tf.constant(float(number))
        assert [element.numpy() for element in tf.data.Dataset.range(1).map(lambda _, one=one: one)] == [number]
        gc.collect()
    assert not world._functions


def _given_away(use):
    """Whether what `use` closes over is freed once it has ended."""

    class Held:
        pass

    held = Held()
    kept = weakref.ref(held)
    use(held)
    del held
    gc.collect()
    return kept() is None


@pytest.mark.parametrize("recording", [False, True])
def test_functions_of_the_users_own_are_given_away_when_nobody_differentiates_them_any_more(recording):
    x = tf.constant(3.0)

    def use(held):
        ours = tf.custom_gradient(lambda a: (a * 2.0, lambda grad: grad * len([held])))
        with tf.GradientTape() if recording else contextlib.nullcontext() as tape:
            if recording:
                tape.watch(x)
            y = ours(x) + x * len([held])
            y += tf.py_func(lambda a: a * np.float32(len([held])), [x], tf.float32)
        assert y.numpy() == 12
        assert not recording or tape.gradient(y, x).numpy() == 2

    assert _given_away(use)
