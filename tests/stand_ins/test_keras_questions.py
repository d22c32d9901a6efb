"""Callbacks for loops of one's own, and what private modules of Keras ask. Results are TensorFlow 1.15's."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

callbacks = stand_for("tensorflow.python.keras.callbacks")
data_structures = stand_for("tensorflow.python.training.tracking.data_structures")
layer_utils = stand_for("tensorflow.python.keras.utils.layer_utils")
losses = stand_for("tensorflow.python.keras.losses")
vis_utils = stand_for("tensorflow.python.keras.utils.vis_utils")


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        yield
        tf.keras.backend.set_session(None)


def made():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


NAMES = ["loss", "mean_absolute_error"]
VALIDATED = [*NAMES, "val_loss", "val_mean_absolute_error"]


@pytest.mark.parametrize(
    ("arguments", "kinds", "params"),
    [
        (
            {"do_validation": True, "batch_size": 4, "epochs": 3, "samples": 12, "count_mode": "samples"},
            ["BaseLogger", "Callback", "History", "ProgbarLogger"],
            {"batch_size": 4, "do_validation": True, "epochs": 3, "metrics": VALIDATED, "samples": 12, "verbose": 1},
        ),
        ({"verbose": 0}, ["BaseLogger", "Callback", "History"], {"metrics": NAMES, "verbose": 0}),
        ({"mode": "test", "samples": 5}, ["Callback"], {"metrics": NAMES, "samples": 5, "verbose": 1}),
        ({"mode": "predict", "verbose": 0, "steps_per_epoch": 7}, ["Callback"], {"metrics": [], "steps": 7, "verbose": 0}),
    ],
)
def test_callbacks_of_a_run(arguments, kinds, params):
    model, own = made(), tf.keras.callbacks.Callback()
    found = callbacks.configure_callbacks([own], model, **arguments)
    assert [type(one).__name__ for one in found.callbacks] == kinds
    unsaid = {"batch_size": None, "do_validation": False, "epochs": None, "samples": None, "steps": None}
    assert own.params == found.params == {**unsaid, **params}
    assert own.model is found.model is model and model.stop_training is False
    if "History" in kinds:
        assert model.history is found.callbacks[kinds.index("History")]
        assert found.callbacks[0].stateful_metrics == {"mean_absolute_error"}
    assert callbacks.configure_callbacks(found, made()) is found and found.model is model


def test_a_list_of_callbacks_stays_as_it_is():
    own = tf.keras.callbacks.Callback()
    given = callbacks.CallbackList([own])
    assert callbacks.configure_callbacks(given, made()) is given
    assert given.callbacks == [own] and given.model is None


def test_a_loop_of_ones_own(capsys):
    model, x = made(), np.ones([4, 3], np.float32)
    found = callbacks.configure_callbacks(None, model, batch_size=2, epochs=2, steps_per_epoch=2, samples=4)
    found.on_train_begin()
    for epoch in range(2):
        found.on_epoch_begin(epoch)
        logs = {}
        for step in range(2):
            found.on_batch_begin(step, {})
            results = model.train_on_batch(x[:2], x[:2, :2])
            logs = callbacks.make_logs(model, {"batch": step, "size": 2}, results, "train")
            found.on_batch_end(step, logs)
        found.on_epoch_end(epoch, {})
    found.on_train_end()
    assert sorted(model.history.history) == NAMES and len(model.history.history["loss"]) == 2
    assert "Epoch 2/2" in capsys.readouterr().out


def test_logs_of_a_step():
    model = made()
    assert callbacks.make_logs(model, {"q": 1}, [5, 6], "train") == {"q": 1, "loss": 5, "mean_absolute_error": 6}
    assert callbacks.make_logs(model, {}, [5, 6], "test", prefix="val_") == {"val_loss": 5, "val_mean_absolute_error": 6}
    assert callbacks.make_logs(model, {}, [5, 6], "predict") == {"outputs": [5, 6]}


def test_losses_of_classes():
    of_classes = tf.keras.losses.categorical_crossentropy
    for loss in ("categorical_crossentropy", of_classes, tf.keras.losses.CategoricalCrossentropy()):
        assert losses.is_categorical_crossentropy(loss)
    assert losses.is_categorical_crossentropy(losses.LossFunctionWrapper(of_classes))
    for loss in ("mse", tf.keras.losses.CategoricalCrossentropy, tf.keras.losses.SparseCategoricalCrossentropy()):
        assert not losses.is_categorical_crossentropy(loss)


@pytest.mark.parametrize(
    ("target", "column"),
    [
        ("channels_first", [0, 4, 8, 12, 16, 20, 2, 6, 10, 14, 18, 22]),
        ("channels_last", [0, 12, 2, 14, 4, 16, 6, 18, 8, 20, 10, 22]),
    ],
)
def test_weights_after_a_flattened_image(target, column):
    dense = tf.keras.layers.Dense(2)
    dense.build((None, 12))
    dense.set_weights([np.arange(24.0).reshape(12, 2), np.array([1.0, 2.0])])
    layer_utils.convert_dense_weights_data_format(dense, (2, 3, 2), target)
    kernel, bias = dense.get_weights()
    assert kernel[:, 0].tolist() == column and kernel[:, 1].tolist() == [one + 1 for one in column]
    assert bias.tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError, match="target_data_format"):
        layer_utils.convert_dense_weights_data_format(dense, (2, 3, 2), "x")


def test_layers_around_models():
    of_model = tf.keras.layers.TimeDistributed(tf.keras.Sequential())
    of_layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(2))
    assert vis_utils.is_wrapped_model(of_model)
    assert not any(vis_utils.is_wrapped_model(layer) for layer in (of_layer, tf.keras.layers.Dense(2)))


def test_models_are_drawn_with_both_programs(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "pydot")
    for path, wanted in (("/bin/dot", True), (None, False)):
        monkeypatch.setattr("shutil.which", lambda name, path=path: path)
        assert vis_utils.check_pydot() is wanted


def test_lists_that_know_their_parts():
    found = data_structures.ListWrapper([1, 2])
    found.append(3)
    assert found == [1, 2, 3] and found[1:] == [2, 3] and isinstance(found + found, data_structures.ListWrapper)
    assert isinstance(found, list) and isinstance(found, data_structures.TrackableDataStructure)
