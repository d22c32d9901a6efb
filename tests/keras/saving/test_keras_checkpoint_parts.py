"""What checkpoints have as the parts of layers: TensorFlow's programs name those that they, or a checkpoint, do not have.

The names were read from checkpoints that TensorFlow 1.15 wrote.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.train import deferred_restore
from tfexp.train.object_graph import object_metadata

keras, layers = tf.keras, tf.keras.layers
RECURRENT = "cell state_spec"
NORMALISED = "_updates axis beta gamma moving_mean moving_variance"


def _doubled(x: Any, factor: float = 2.0) -> Any:
    return x * factor


CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "dense": (lambda: layers.Dense(3, input_shape=(4,)), "bias kernel"),
    "regularized": (lambda: layers.Dense(3, kernel_regularizer="l2", input_shape=(4,)), "_callable_losses bias kernel"),
    "of its outputs": (lambda: layers.Dense(3, activity_regularizer="l2", input_shape=(4,)), "_callable_losses bias kernel"),
    "normalization": (lambda: layers.BatchNormalization(input_shape=(4,)), NORMALISED),
    "frozen": (lambda: layers.BatchNormalization(trainable=False, input_shape=(4,)), NORMALISED),
    "virtual": (lambda: layers.BatchNormalization(virtual_batch_size=2, input_shape=(4,)), NORMALISED),
    "renormalization": (
        lambda: layers.BatchNormalization(renorm=True, input_shape=(4,)),
        f"{NORMALISED} moving_stddev renorm_clipping renorm_mean renorm_stddev",
    ),
    "of a layer": (lambda: layers.LayerNormalization(input_shape=(4,)), "axis beta gamma"),
    "slopes": (lambda: layers.PReLU(shared_axes=[1], input_shape=(4, 3)), "alpha shared_axes"),
    "function": (
        lambda: layers.Lambda(_doubled, arguments={"factor": 3.0}, input_shape=(4,)),
        "_non_trainable_weights _trainable_weights _variable_dict arguments",
    ),
    "LSTM": (lambda: layers.LSTM(3, input_shape=(5, 4)), RECURRENT),
    "with a state": (lambda: layers.LSTM(3, stateful=True, batch_input_shape=(2, 5, 4)), f"{RECURRENT} _updates"),
    "of images": (lambda: layers.ConvLSTM2D(2, 3, input_shape=(4, 8, 8, 1)), RECURRENT),
    "both ways": (lambda: layers.Bidirectional(layers.GRU(3), input_shape=(5, 4)), "_layers backward_layer forward_layer"),
    "each step": (lambda: layers.TimeDistributed(layers.Dense(2), input_shape=(5, 4)), "_input_map _layers layer"),
    "local": (lambda: layers.LocallyConnected1D(2, 2, input_shape=(4, 1)), "bias kernel"),
}


def _parts(model: Any, path: Path) -> dict[str, int]:
    """The names of the first layer's parts, and the nodes that they are, as a checkpoint has them."""
    model.save_weights(str(path / "weights"), save_format="tf")
    nodes = object_metadata(str(path / "weights")).nodes
    (first,) = (child.node_id for child in nodes[0].children if child.local_name == "layer-1")
    return {child.local_name: child.node_id for child in nodes[first].children}


@pytest.mark.parametrize("case", CASES)
def test_a_layer_has_the_parts_that_it_has_in_tensorflow(case: str, tmp_path: Path) -> None:
    make, names = CASES[case]
    with tf.Graph().as_default(), tf.Session():
        model = keras.Sequential([make()])
        assert sorted(_parts(model, tmp_path)) == sorted(names.split())
        status = model.load_weights(str(tmp_path / "weights"))
        status.assert_consumed()


def test_lists_and_dicts_are_parts_with_nothing_in_them_too(tmp_path: Path) -> None:
    class Branches(layers.Layer):
        def __init__(self, **kwargs: Any):
            super().__init__(**kwargs)
            self.none: list[Any] = []
            self.sizes, self.options = [1, 2], {"a": 1}
            self.nested = [[layers.Dense(1)], []]

    with tf.Graph().as_default(), tf.Session():
        model = keras.Sequential([layers.InputLayer((4,)), Branches()])
        assert set(_parts(model, tmp_path)) == {"none", "sizes", "options", "nested"}


def test_what_only_adds_a_loss_or_a_metric_is_no_numbered_layer(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session():
        x = keras.Input((4,))
        model = keras.Model(x, layers.Dense(2)(x))
        model.add_loss(tf.reduce_sum(model.output) * 3.0)
        model.add_metric(tf.reduce_sum(model.output), name="sum", aggregation="mean")
        _parts(model, tmp_path)
        children = object_metadata(str(tmp_path / "weights")).nodes[0].children
        assert {child.local_name for child in children} == {"layer-0", "layer-1", "layer_with_weights-0"}


def test_the_steps_of_an_optimizer_of_tf_train_have_the_name_that_tensorflow_gives_them(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session():
        model = keras.Sequential([layers.Dense(1, input_shape=(2,))])
        model.compile(tf.train.AdamOptimizer(), "mse")
        model.fit(np.ones((1, 2)), np.ones((1, 1)), verbose=0)
        _parts(model, tmp_path)
        reader = tf.train.load_checkpoint(str(tmp_path / "weights"))
        assert reader.get_tensor("optimizer/global_step/.ATTRIBUTES/VARIABLE_VALUE") == 1
        assert model.optimizer.iterations.op.name == "TFOptimizer/iterations"


class OneDense(tf.keras.Model):  # type: ignore[misc,name-defined]
    """Has no variables before it is called."""

    def __init__(self) -> None:
        super().__init__(name="sub")
        self.dense = tf.keras.layers.Dense(2, name="dense")

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


INPUTS, TARGETS = np.random.RandomState(0).rand(2, 6, 2).astype(np.float32)


def _made(built: bool) -> Any:
    return tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,))]) if built else OneDense()


def _compiled(built: bool) -> Any:
    model = _made(built)
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("eagerly", [False, True])
@pytest.mark.parametrize("built", [True, False])
def test_training_goes_on_from_a_checkpoint_of_the_weights(built: bool, eagerly: bool, tmp_path: Path) -> None:
    """What the optimizer keeps waits for its first step, also when the optimizer comes later than the values."""

    def steps(model: Any) -> Any:
        losses = [model.train_on_batch(INPUTS, TARGETS) for _ in range(3)]
        return [*losses, *sorted(float(np.abs(weight).sum()) for weight in model.optimizer.get_weights())]

    tf.keras.backend.clear_session()
    with eager_mode() if eagerly else contextlib.nullcontext():
        model = _compiled(built)
        steps(model)
        model.save_weights(f"{tmp_path}/weights")
        expected = steps(model)
        loaded = _compiled(built)
        loaded.load_weights(f"{tmp_path}/weights")
        np.testing.assert_allclose(steps(loaded), expected, rtol=1e-5)
        compiled_later = _made(built)
        compiled_later.load_weights(f"{tmp_path}/weights")
        compiled_later.compile("adam", "mse")
        np.testing.assert_allclose(steps(compiled_later), expected, rtol=1e-5)
    tf.keras.backend.clear_session()


def test_values_under_names_wait_for_their_variables_in_eager_execution(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        weights = [tf.get_variable("sub/dense/kernel", initializer=[[1.0, 2.0]]), tf.get_variable("sub/dense/bias", [2])]
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver(weights).save(session, f"{tmp_path}/named")
    with eager_mode():
        model = OneDense()
        model.load_weights(path)
        np.testing.assert_array_equal(model(np.zeros((1, 1), np.float32)).shape, (1, 2))
        np.testing.assert_array_equal(model.get_weights()[0], [[1.0, 2.0]])


def test_many_variables_are_looked_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other models may be built in the graph while the optimizer's variables are still to come."""
    tf.keras.backend.clear_session()
    model = _compiled(True)
    model.train_on_batch(INPUTS, TARGETS)
    model.save_weights(f"{tmp_path}/weights")
    loaded = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,))])
    loaded.load_weights(f"{tmp_path}/weights")
    looked = []
    monkeypatch.setattr(deferred_restore._Waiting, "_restore", lambda waiting, session: looked.append(session) or True)
    for _ in range(5):
        _compiled(True)
    assert looked == []
    session = tf.keras.backend.get_session()
    tf.keras.backend.get_session()
    assert looked == [session]
    tf.keras.backend.clear_session()
