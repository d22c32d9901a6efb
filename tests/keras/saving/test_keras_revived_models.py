"""SavedModels of models whose classes are not there: layers and models of the functions that were saved with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.keras.engine.network import Network
from tfexp.runtime.eager import eager_mode

keras = tf.keras
ROWS = np.random.RandomState(0).rand(5, 3).astype("float32")
TARGETS = np.ones((5, 2), "float32")


class Scaled(keras.layers.Layer):
    """Calls a function of functions."""

    def __init__(self, **others: Any):
        super().__init__(**others)

    def build(self, input_shape: Any) -> None:
        self.scale = self.add_weight("scale", (int(input_shape[-1]),), initializer="ones")
        self.built = True

    def call(self, inputs: Any) -> Any:
        return tf.function(lambda x: x * self.scale)(inputs)


class Subclass(keras.Model):
    def __init__(self) -> None:
        super().__init__(name="whole")
        self.first = keras.layers.Dense(2, kernel_regularizer="l2", activity_regularizer="l1", name="first")
        self.normal = keras.layers.BatchNormalization(name="normal")
        self.more = [Scaled(name="scaled")]
        self.factor = tf.Variable(2.0, trainable=False, name="factor", use_resource=True)

    def call(self, inputs: Any, training: Any = None) -> Any:
        return self.more[0](self.normal(self.first(inputs), training=training)) * self.factor


def trained(model: Any) -> Any:
    model.compile(keras.optimizers.Adam(0.1), "mse")
    model.fit(ROWS, TARGETS, shuffle=False, verbose=0)
    return model


def as_1_15_writes_it(folder: Path) -> None:
    """Calls of functions in functions say which rule of that process is their gradient; layers have lists of losses, too."""
    file, saved, calls = folder / "saved_model.pb", SavedModel(), 0
    saved.ParseFromString(file.read_bytes())
    for function in saved.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
                node.attr["_gradient_op_type"].s, calls = b"PartitionedCall-7", calls + 1
    assert calls
    for node in saved.meta_graphs[0].object_graph_def.nodes:
        if node.user_object.identifier == "_tf_keras_layer":
            (kept,) = (child.node_id for child in node.children if child.local_name == "keras_api")
            node.children.add(node_id=kept, local_name="_callable_losses")
    file.write_bytes(saved.SerializeToString())


@pytest.mark.parametrize("eagerly", [False, True], ids=["graph", "eager"])
def test_a_subclass_is_a_model_again(eagerly: bool, tmp_path: Path) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        tf.set_random_seed(0)  # outputs near 0 would differ by more
        model = trained(Subclass())
        model.save(tmp_path / "model", save_format="tf")
        as_1_15_writes_it(tmp_path / "model")
        again = keras.models.load_model(tmp_path / "model")
        assert type(again) is not Subclass and isinstance(again, keras.Model) and type(again).__name__ == "Subclass"
        assert [(type(one).__name__, one.name) for one in again.layers] == [
            ("Dense", "first"),
            ("BatchNormalization", "normal"),
            ("Scaled", "scaled"),
        ]
        assert again.first is again.layers[0] and again.more[0] is again.layers[2]
        assert again.first.get_config()["units"] == 2
        with pytest.raises(NotImplementedError, match="was saved without a configuration"):
            again.get_config()
        assert len(again.losses) == 2
        assert again.outputs[0].shape.as_list() == [None, 2] and again.input_names == ["input_1"]
        counts = [(len(one.trainable_weights), len(one.non_trainable_weights)) for one in (model, again)]
        assert counts == [(5, 3), (5, 3)]
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-6)
        for one in (model, again):  # with the state of the optimizer, the losses and the moving means
            one.train_on_batch(ROWS, TARGETS)
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-4, atol=1e-5)
        again.save(tmp_path / "again", save_format="tf")
        np.testing.assert_allclose(keras.models.load_model(tmp_path / "again").predict(ROWS), again.predict(ROWS), rtol=1e-6)


def test_a_layer_that_is_not_known_makes_all_layers_functions(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        given = keras.Input((3,))
        model = trained(keras.Model(given, keras.layers.Dense(2)(Scaled()(given))))
        model.save(tmp_path / "model", save_format="tf")
        again = keras.models.load_model(tmp_path / "model")
        assert [type(one).__name__ for one in again.layers] == ["InputLayer", "Scaled", "Dense"]
        assert not isinstance(again.layers[2], keras.layers.Dense)
        np.testing.assert_allclose(again.predict(ROWS), model.predict(ROWS), rtol=1e-6)
        with pytest.raises(NotImplementedError, match="no function of the layer input_1"):
            again.layers[0](tf.zeros((1, 3)))
        known = keras.models.load_model(tmp_path / "model", custom_objects={"Scaled": Scaled})
        assert isinstance(known.layers[1], Scaled)


def test_an_export_with_a_layer_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        model = keras.Sequential([Scaled(input_shape=(3,))])
        keras.experimental.export_saved_model(model, tmp_path / "model", custom_objects={"Scaled": Scaled})
        with pytest.raises(ValueError, match="Unknown layer: Scaled"):
            keras.experimental.load_from_saved_model(tmp_path / "model")


def test_added_metrics_are_saved_with_their_variables(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        given = keras.Input((3,))
        model = keras.Model(given, keras.layers.Dense(2)(given))
        model.add_metric(keras.backend.sum(model.output), name="total", aggregation="mean")
        trained(model).save(tmp_path / "model", save_format="tf")
        again = keras.models.load_model(tmp_path / "model")
        assert again.metrics_names == ["loss", "total"]
        np.testing.assert_allclose(
            again.evaluate(ROWS, TARGETS, verbose=0), model.evaluate(ROWS, TARGETS, verbose=0), rtol=1e-5
        )


def test_a_sequential_of_unknown_layers_is_a_sequential(tmp_path: Path) -> None:
    class Unknown(keras.layers.Layer):
        def call(self, inputs: Any, training: Any = None) -> Any:
            return 2.0 * inputs

    with tf.Graph().as_default(), tf.Session().as_default():
        model = keras.Sequential([Unknown(input_shape=(3,)), keras.layers.Dense(2, name="last")])
        model.save(tmp_path / "model", save_format="tf")
        loaded = keras.models.load_model(tmp_path / "model")
        assert isinstance(loaded, keras.Sequential) and len(loaded.layers) == 2 and loaded.input_spec is None
        assert loaded.get_layer(index=1).name == "last"
        np.testing.assert_allclose(loaded.predict(ROWS), model.predict(ROWS), rtol=1e-6)


def test_revived_layers_check_inputs_and_regularize_outputs(tmp_path: Path) -> None:
    class Own(keras.regularizers.L1L2):  # type: ignore[misc,name-defined]
        """Nobody knows it when the model comes back."""

    with eager_mode():
        tf.set_random_seed(0)  # the sum of outputs might be nearly nothing
        model = keras.Sequential([Scaled(input_shape=(3,)), keras.layers.Dense(2, activity_regularizer="l1")])
        model.add(keras.layers.Dense(2, activity_regularizer=lambda x: 3.0 * tf.reduce_sum(x)))
        model.add(keras.layers.Dense(2, activity_regularizer=Own(0.5)))
        model.save(tmp_path / "model", save_format="tf")
        again = keras.models.load_model(tmp_path / "model")
        assert again.layers[1].input_spec.get_config() == model.layers[1].input_spec.get_config()
        assert again.layers[1].activity_regularizer.get_config() == model.layers[1].activity_regularizer.get_config()
        with pytest.raises(ValueError, match="expected min_ndim=2"):
            again.layers[1](tf.ones((3,)))
        found: list[Any] = []
        for one in (model, again):
            hidden = tf.constant(ROWS, tf.float32)
            for layer in one.layers:
                hidden = layer(hidden)
            found.append([[loss.numpy() for loss in layer.losses] for layer in one.layers])
            assert one(hidden[:, :1] * tf.ones((1, 3))).shape == (5, 2) and len(one.losses) == 3
        assert [len(losses) for losses in found[0]] == [0, 1, 1, 1]
        np.testing.assert_allclose(found[1][1:], found[0][1:], rtol=1e-5, atol=1e-6)


def test_networks_that_are_no_models_are_kept_without_functions_of_their_own(tmp_path: Path) -> None:
    class Steps(Network):
        def __init__(self):
            super().__init__()
            self.inside = tf.keras.layers.Dense(2)

        def call(self, rows, step):
            return self.inside(rows), step

    holder = tf.Module()
    holder.network = Steps()
    holder.network(tf.ones([3, 5]), tf.ones([3]))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.compat.v2.saved_model.save(holder, str(tmp_path))
    revived = tf.compat.v2.saved_model.load(str(tmp_path))
    assert revived.network.inside.kernel.shape == [5, 2]
