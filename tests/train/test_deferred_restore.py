"""In eager execution checkpoints are restored before there are variables: each gets its value when it is made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.trackable import waiting_for_variables
from tfexp.runtime.eager import eager_mode

X = np.float32([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]])


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    waiting_for_variables.clear()  # what graphs of other tests may still wait for
    with eager_mode():
        yield
    waiting_for_variables.clear()


def made() -> tuple[Any, Any]:
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="tanh"), tf.keras.layers.Dense(1)])
    return model, tf.keras.optimizers.Adam(0.1)


def step(model: Any, optimizer: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(tf.constant(X)) ** 2)
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss


@pytest.fixture
def saved(tmp_path: Path) -> tuple[str, list[float]]:
    """A checkpoint, and the losses of the steps after it."""
    model, optimizer = made()
    step(model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(tmp_path / "at"))
    return path, [float(step(model, optimizer)) for _ in range(3)]


@pytest.mark.parametrize("in_function", [False, True])
def test_training_goes_on_where_it_was(saved: tuple[str, list[float]], in_function: bool) -> None:
    path, after = saved
    model, optimizer = made()
    status = tf.train.Checkpoint(model=model, optimizer=optimizer).restore(path)
    assert len(waiting_for_variables) == 1
    take = tf.function(lambda: step(model, optimizer)) if in_function else lambda: step(model, optimizer)
    np.testing.assert_allclose([float(take()) for _ in range(3)], after, rtol=1e-5)
    status.assert_consumed()
    assert waiting_for_variables == []


def test_values_changed_since_stay(saved: tuple[str, list[float]]) -> None:
    model, optimizer = made()
    tf.train.Checkpoint(model=model, optimizer=optimizer).restore(saved[0])
    model(tf.constant(X))
    kernel = model.layers[0].kernel
    kernel.assign(tf.zeros_like(kernel))
    optimizer.apply_gradients([(tf.zeros_like(kernel), kernel)])
    assert optimizer.iterations.numpy() == 2
    assert np.abs(kernel.numpy()).max() < 0.2  # Adam moves it by the moments that were restored; not back to what it was


@pytest.mark.usefixtures("only_new_garbage")
def test_nothing_waits_for_objects_that_are_gone(saved: tuple[str, list[float]]) -> None:
    model, optimizer = made()
    tf.train.Checkpoint(model=model, optimizer=optimizer).restore(saved[0])
    del model, optimizer
    gc.collect()
    other, _ = made()
    other(tf.constant(X))
    assert waiting_for_variables == []


def test_the_last_checkpoint_counts(saved: tuple[str, list[float]], tmp_path: Path) -> None:
    first, optimizer = made()
    first(tf.constant(X))
    later = tf.train.Checkpoint(model=first, optimizer=optimizer).save(str(tmp_path / "later"))
    model, optimizer = made()
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    checkpoint.restore(saved[0])
    checkpoint.restore(later)
    np.testing.assert_array_equal(model(tf.constant(X)).numpy(), first(tf.constant(X)).numpy())
