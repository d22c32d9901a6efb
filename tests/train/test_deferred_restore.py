"""In eager execution checkpoints are restored before there are variables: each gets its value when it is made."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.trackable import waiting_for_variables
from tfexp.runtime.eager import eager_mode
from tfexp.train import object_pairs

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


class Chain(tf.keras.Model):  # type: ignore[misc]
    """Layers as attributes or in a list."""

    def __init__(self, layers: int, in_list: bool):
        super().__init__()
        self.blocks: list[Any] = []
        for number in range(layers):
            if in_list:
                self.blocks.append(tf.keras.layers.Dense(2))
            else:
                setattr(self, f"block_{number}", tf.keras.layers.Dense(2))

    def call(self, inputs: Any) -> Any:
        for layer in self.layers:
            inputs = layer(inputs)
        return inputs


def filled(model: Any, value: float) -> Any:
    model(tf.constant(X))
    for weight in model.weights:
        weight.assign(tf.fill(weight.shape, value))
    return model


def sequence(layers: int) -> Any:
    return tf.keras.Sequential([tf.keras.layers.Dense(2) for _ in range(layers)])


@pytest.mark.parametrize(
    "make",
    [sequence, lambda layers: Chain(layers, False), lambda layers: Chain(layers, True)],
    ids=["sequence", "attributes", "list"],
)
def test_what_is_looked_at_grows_as_the_layers_do(
    make: Callable[[int], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []
    parts_of = object_pairs.parts_of

    def counted(value: Any) -> Any:
        parts = parts_of(value)
        looked.append(1 + len(parts))
        return parts

    def looks(layers: int) -> int:
        path = tf.train.Checkpoint(model=filled(make(layers), 7.0)).save(str(tmp_path / "at"))
        model = make(layers)
        tf.train.Checkpoint(model=model).restore(path)
        looked.clear()
        model(tf.constant(X))
        assert all((weight.numpy() == 7.0).all() for weight in model.weights)
        assert waiting_for_variables == []
        return sum(looked)

    monkeypatch.setattr(object_pairs, "parts_of", counted)
    assert 0 < looks(12) <= 4.5 * looks(3)


def test_layers_that_are_added_later_get_their_values(tmp_path: Path) -> None:
    """To a sequence, to a list that was empty; the list's owner says nothing then."""
    path = tf.train.Checkpoint(model=filled(sequence(2), 7.0)).save(str(tmp_path / "sequence"))
    model = tf.keras.Sequential()
    tf.train.Checkpoint(model=model).restore(path)
    for _ in range(2):
        model.add(tf.keras.layers.Dense(2))
    model(tf.constant(X))
    path = tf.train.Checkpoint(model=filled(Chain(2, True), 7.0)).save(str(tmp_path / "list"))
    listed = Chain(0, True)
    tf.train.Checkpoint(model=listed).restore(path)
    for _ in range(2):
        listed.blocks.append(tf.keras.layers.Dense(2))
    listed(tf.constant(X))
    for weight in model.weights + listed.weights:
        assert (weight.numpy() == 7.0).all()


def test_what_takes_the_place_of_a_part_does_not_get_its_values(tmp_path: Path) -> None:
    path = tf.train.Checkpoint(model=filled(Chain(2, False), 7.0)).save(str(tmp_path / "at"))
    model = Chain(2, False)
    tf.train.Checkpoint(model=model).restore(path)
    model.block_0 = tf.keras.layers.Dense(2, kernel_initializer="zeros")  # of another shape than what the checkpoint has
    model.block_0(tf.zeros([1, 5]))
    assert (model.block_0.kernel.numpy() == 0.0).all()
    model.block_1(tf.zeros([1, 2]))
    assert (model.block_1.kernel.numpy() == 7.0).all()


def test_a_layer_that_is_another_one_by_its_number_stays_that(tmp_path: Path) -> None:
    """The checkpoint's second layer is the program's second, though only its third has variables."""
    path = tf.train.Checkpoint(model=filled(sequence(2), 7.0)).save(str(tmp_path / "at"))
    dense = [tf.keras.layers.Dense(2, kernel_initializer="zeros") for _ in range(2)]
    model = tf.keras.Sequential([dense[0], tf.keras.layers.Dropout(0.5), dense[1]])
    tf.train.Checkpoint(model=model).restore(path)
    model(tf.constant(X))
    assert (dense[0].kernel.numpy() == 7.0).all() and (dense[1].kernel.numpy() == 0.0).all()


def test_a_variable_that_is_made_in_a_call_gets_its_value_there(tmp_path: Path) -> None:
    class Late(tf.keras.layers.Layer):  # type: ignore[misc]
        def call(self, inputs: Any) -> Any:
            if not self.weights:
                self.add_weight("scale", [], initializer="zeros")
            return inputs * self.weights[0]

    path = tf.train.Checkpoint(layer=filled(Late(), 7.0)).save(str(tmp_path / "at"))
    layer = Late()
    tf.train.Checkpoint(layer=layer).restore(path)
    np.testing.assert_array_equal(layer(tf.constant(X)), 7 * X)


def test_what_a_wrapped_optimizer_makes_gets_its_values(tmp_path: Path) -> None:
    def wrapped() -> tuple[Any, Any]:
        model, optimizer = made()
        return model, tf.keras.mixed_precision.experimental.LossScaleOptimizer(optimizer, 2.0)

    model, optimizer = wrapped()
    step(model, optimizer)
    path = tf.train.Checkpoint(model=model, optimizer=optimizer).save(str(tmp_path / "at"))
    after = [float(step(model, optimizer)) for _ in range(2)]
    model, optimizer = wrapped()
    tf.train.Checkpoint(model=model, optimizer=optimizer).restore(path)
    np.testing.assert_allclose([float(step(model, optimizer)) for _ in range(2)], after, rtol=1e-5)
    assert waiting_for_variables == []


def test_what_a_template_makes_gets_its_value(tmp_path: Path) -> None:
    def template() -> Any:
        return tf.make_template("scaled", lambda: tf.get_variable("scale", [], initializer=tf.zeros_initializer()))

    first = template()
    first().assign(7.0)
    path = tf.train.Checkpoint(part=first).save(str(tmp_path / "at"))
    second = template()
    tf.train.Checkpoint(part=second).restore(path)
    assert second().numpy() == 7.0
