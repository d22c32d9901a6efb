"""Models in files: what TensorFlow wrote is read, what is written reads back, and errors say what does not fit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.keras.saving.saved_models import ROWS, TARGETS, WORDS, nested, sequential
from tfexp.api import keras
from tfexp.runtime.eager import eager_mode

RECORDED = Path(__file__).with_name("recorded")
FOUND = json.loads((RECORDED / "found.json").read_text())


@pytest.fixture(autouse=True)
def graph() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


@pytest.fixture
def h5py() -> Any:
    return pytest.importorskip("h5py", reason="HDF5 files need the extra `hdf5`")


def close(values: Any, wanted: Any) -> None:
    np.testing.assert_allclose(values, wanted, rtol=1e-4, atol=1e-5)


def small(**kwargs: Any) -> Any:
    first = keras.layers.Dense(3, input_shape=(2,), name="a", **kwargs)
    return keras.Sequential([first, keras.layers.Dense(1, name="b")])


# --- TensorFlow's files -------------------------------------------------------------------------------------------------


def test_a_model_of_tensorflows_goes_on_where_it_was(h5py: Any) -> None:
    model = keras.models.load_model(str(RECORDED / "sequential.h5"))
    close(model.predict(ROWS), FOUND["sequential"])
    close(model.evaluate(ROWS, TARGETS, verbose=0), FOUND["evaluated"])
    model.train_on_batch(ROWS, TARGETS)  # with the optimizer's moments, or it would go elsewhere
    close(model.predict(ROWS), FOUND["a_step_later"])


def test_a_nested_model_of_tensorflows(h5py: Any) -> None:
    model = keras.models.load_model(RECORDED / "nested.h5")
    close(model.predict([WORDS, ROWS]), FOUND["nested"])
    other = nested(keras)
    other.load_weights(RECORDED / "nested.h5", by_name=True)
    close(other.predict([WORDS, ROWS]), FOUND["nested"])


def test_a_checkpoint_of_tensorflows() -> None:
    model = sequential(keras)
    model._make_train_function()
    model.load_weights(str(RECORDED / "checkpoint" / "weights")).assert_existing_objects_matched()
    close(model.predict(ROWS), FOUND["sequential"])
    model.train_on_batch(ROWS, TARGETS)
    close(model.predict(ROWS), FOUND["a_step_later"])


# --- there and back -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "kind"), [(sequential, "h5"), (sequential, "tf"), (nested, "tf")])
def test_models_come_back(make: Any, kind: str, tmp_path: Path, request: Any) -> None:
    if kind == "h5":
        request.getfixturevalue("h5py")
    model = make(keras)
    data = ROWS if make is sequential else [WORDS, ROWS]
    if make is sequential:  # steps of recurrent layers take long to prepare
        model.train_on_batch(data, TARGETS)
    model.save(tmp_path / "model", save_format=kind, include_optimizer=make is sequential)
    wanted = model.predict(data)
    back = keras.models.load_model(tmp_path / "model")
    close(back.predict(data), wanted)
    assert [weight.name.split("/", 1)[1] for weight in back.weights] == [w.name.split("/", 1)[1] for w in model.weights]
    if make is sequential:
        for one in (model, back):
            one.train_on_batch(data, TARGETS)
        close(back.predict(data), model.predict(data))
    assert keras.models.load_model(tmp_path / "model", compile=False).optimizer is None


@pytest.mark.parametrize("kind", ["h5", "tf"])
def test_models_come_back_in_eager_execution(kind: str, tmp_path: Path, request: Any) -> None:
    if kind == "h5":
        request.getfixturevalue("h5py")
    with eager_mode():
        model = small()
        model.compile("adam", "mse")
        rows, targets = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
        model.train_on_batch(rows, targets)
        model.save(tmp_path / "model", save_format=kind)
        back = keras.models.load_model(tmp_path / "model")
        assert back.optimizer.iterations.numpy() == 1
        for one in (model, back):
            one.train_on_batch(rows, targets)
        close(back.predict(rows), model.predict(rows))


@pytest.mark.parametrize("name", ["w.h5", "w"])
def test_weights_come_back(name: str, tmp_path: Path, request: Any) -> None:
    if name.endswith("h5"):
        request.getfixturevalue("h5py")
    model = small()
    model.save_weights(tmp_path / name)
    values = model.get_weights()
    model.set_weights([0 * value for value in values])
    model.load_weights(tmp_path / name)
    for one, other in zip(model.get_weights(), values, strict=True):
        np.testing.assert_array_equal(one, other)
    if not name.endswith("h5"):
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / name)


def test_custom_objects_are_found_by_name(h5py: Any, tmp_path: Path) -> None:
    class Twice(keras.layers.Layer):
        def call(self, inputs: Any) -> Any:
            return 2 * inputs

    def difference(y: Any, prediction: Any) -> Any:
        return keras.backend.mean(keras.backend.abs(y - prediction))

    model = keras.Sequential([Twice(input_shape=(2,)), keras.layers.Dense(1)])
    model.compile("sgd", difference, metrics=[difference])
    model.save(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="Twice"):
        keras.models.load_model(tmp_path / "m.h5")
    with pytest.raises(ValueError, match="difference"):
        keras.models.load_model(tmp_path / "m.h5", custom_objects={"Twice": Twice})
    back = keras.models.load_model(tmp_path / "m.h5", custom_objects={"Twice": Twice, "difference": difference})
    rows = np.ones((3, 2), "float32")
    close(back.predict(rows), model.predict(rows))
    assert back.loss is difference


def test_a_model_in_an_open_file(h5py: Any) -> None:
    model = small()
    with h5py.File("in memory", "w", driver="core", backing_store=False) as file:
        keras.models.save_model(model, file)
        file.flush()
        back = keras.models.load_model(file)
    for one, other in zip(model.get_weights(), back.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_optimizers_of_tf_train_are_left_out(h5py: Any, tmp_path: Path) -> None:
    model = small()
    model.compile(tf.train.AdamOptimizer(), "mse")
    model.save(tmp_path / "m.h5")
    assert keras.models.load_model(tmp_path / "m.h5").optimizer is None


def test_a_model_that_learnt_its_inputs_from_data_starts_with_a_new_optimizer(h5py: Any, tmp_path: Path) -> None:
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(2)])
    model.compile("adam", "mse")
    x, y = np.ones((5, 4)), np.ones((5, 2))
    model.fit(x, y, verbose=0)
    path = str(tmp_path / "model.h5")
    model.save(path)
    loaded = keras.models.load_model(path)
    close(loaded.predict(x), model.predict(x))
    loaded.fit(x, y, verbose=0)
    assert int(keras.backend.get_value(loaded.optimizer.iterations)) == 1


def test_long_lists_of_names_take_several_attributes(h5py: Any) -> None:
    from tfexp.keras.saving.hdf5 import read_texts, write_texts

    names = [f"{'layer' * 20}_{i}" for i in range(2000)]
    with h5py.File("in memory", "w", driver="core", backing_store=False) as file:
        write_texts(file, "names", names)
        assert "names" not in file.attrs and "names1" in file.attrs
        assert read_texts(file, "names") == names
        with pytest.raises(RuntimeError, match="cannot be saved to HDF5 file because they are larger"):
            write_texts(file, "one", ["x" * 70_000])


# --- SavedModels --------------------------------------------------------------------------------------------------------


def test_a_saved_model_serves(tmp_path: Path) -> None:
    model = sequential(keras)
    keras.experimental.export_saved_model(model, tmp_path / "m")
    back = keras.experimental.load_from_saved_model(tmp_path / "m")
    close(back.predict(ROWS), model.predict(ROWS))
    with tf.Session(graph=tf.Graph()) as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "m"))
        signature = loaded.signature_def["serving_default"]
        served = session.run(signature.outputs["last"].name, {signature.inputs["flat_input"].name: ROWS})
    close(served, model.predict(ROWS))
    with pytest.raises(AssertionError, match="isn't empty"):
        keras.experimental.export_saved_model(model, tmp_path / "m")


class Subclass(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.dense = keras.layers.Dense(2)

    def call(self, inputs: Any) -> Any:
        return self.dense(inputs)


def test_a_subclass_takes_up_a_checkpoint_as_its_first_call_makes_the_variables(tmp_path: Path) -> None:
    model = Subclass()
    outputs = model(tf.constant(ROWS, tf.float32))
    model.save_weights(tmp_path / "w")
    wanted = keras.backend.get_value(outputs)
    fresh = Subclass()
    fresh.load_weights(tmp_path / "w")
    np.testing.assert_array_equal(fresh.predict(np.asarray(ROWS, np.float32)), wanted)
    fresh.set_weights([value * 0 for value in fresh.get_weights()])
    again = fresh(tf.constant(ROWS, tf.float32))  # a further call takes up nothing
    np.testing.assert_array_equal(keras.backend.get_value(again), wanted * 0)


def test_a_subclass_is_saved_by_its_weights(h5py: Any, tmp_path: Path) -> None:
    model = Subclass()
    with pytest.raises(NotImplementedError, match="requires the model to be a Functional model or a Sequential model"):
        model.save(tmp_path / "m.h5")
    with pytest.raises(NotImplementedError, match="only supported in serving_only mode"):
        keras.experimental.export_saved_model(model, tmp_path / "m")
    model.build((None, 3))
    model.save_weights(tmp_path / "w.h5")
    model.save_weights(tmp_path / "w")
    for name in ("w.h5", "w"):
        other = Subclass()
        other.build((None, 3))
        other.load_weights(tmp_path / name)
        np.testing.assert_array_equal(other.get_weights()[0], model.get_weights()[0])
    with pytest.raises(NotImplementedError, match="has not created its variables yet"):
        Subclass().load_weights(tmp_path / "w.h5")


# --- what does not fit --------------------------------------------------------------------------------------------------


def test_weights_that_do_not_fit(h5py: Any, tmp_path: Path) -> None:
    path = tmp_path / "w.h5"
    small().save_weights(path)
    with pytest.raises(ValueError, match="a weight file containing 2 layers into a model with 1 layers"):
        keras.Sequential([keras.layers.Dense(3, input_shape=(2,))]).load_weights(path)
    with pytest.raises(ValueError, match="expects 1 weights, but the saved weights have 2 elements"):
        small(use_bias=False).load_weights(path)
    with pytest.raises(ValueError, match=r"expects 1 weight\(s\), but the saved weights have 2 element\(s\)"):
        small(use_bias=False).load_weights(path, by_name=True)
    wider = keras.Sequential([keras.layers.Dense(4, input_shape=(2,), name="a"), keras.layers.Dense(1, name="c")])
    with pytest.raises(
        ValueError, match=r"weight a_\d+/kernel:0 has shape \(2, 4\), but the saved weight has shape \(2, 3\)"
    ):
        wider.load_weights(path, by_name=True)
    with pytest.raises(ValueError, match="has shape"):
        wider.load_weights(path)
    with pytest.raises(ValueError, match="No model found in config file"):
        keras.models.load_model(path)


def test_paths_and_formats_that_do_not_go_together(tmp_path: Path) -> None:
    model = small()
    with pytest.raises(ValueError, match="looks like an HDF5 file"):
        model.save_weights(tmp_path / "w.h5", save_format="tf")
    with pytest.raises(ValueError, match='Unknown format "x"'):
        model.save_weights(tmp_path / "w", save_format="x")
    model.save_weights(tmp_path / "w")
    with pytest.raises(NotImplementedError, match="only be loaded based on topology"):
        model.load_weights(tmp_path / "w", by_name=True)
    with pytest.raises(OSError, match="does not exist"):
        keras.models.load_model(tmp_path / "nothing")
    with pytest.raises(OSError, match="not an hdf5 file"):
        keras.models.load_model(tmp_path)


def test_activations_that_are_operations_are_kept_by_name() -> None:
    copy = keras.models.model_from_json(small(activation=keras.backend.tanh).to_json())
    assert copy.get_layer("a").activation is keras.activations.tanh


def test_a_layers_name_may_go_on_from_anothers(h5py: Any, tmp_path: Path) -> None:
    inputs = keras.Input((2,))
    model = keras.Model(inputs, keras.layers.Dense(1, name="a")(keras.layers.Dense(3, name="a/b")(inputs)))
    model.save_weights(tmp_path / "w.h5")
    kept = model.get_weights()
    model.set_weights([value + 1 for value in kept])
    model.load_weights(tmp_path / "w.h5")
    for value, wanted in zip(model.get_weights(), kept, strict=True):
        np.testing.assert_array_equal(value, wanted)


@pytest.mark.parametrize(("answers", "written"), [(["x", "n"], False), (["y"], True)])
def test_a_file_is_written_over_when_asked(
    answers: list[str], written: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = small()
    model.save_weights(tmp_path / "w")
    before = (tmp_path / "w.data-00000-of-00001").read_bytes()
    model.set_weights([value + 1 for value in model.get_weights()])
    left = iter(answers)
    monkeypatch.setattr("builtins.input", lambda _: next(left))
    model.save_weights(tmp_path / "w", overwrite=False)
    assert ((tmp_path / "w.data-00000-of-00001").read_bytes() != before) is written


def test_models_that_take_their_inputs_by_name_are_saved_as_objects(tmp_path: Path) -> None:
    for eagerly in (False, True):
        with eager_mode() if eagerly else tf.Graph().as_default():
            columns = [tf.feature_column.numeric_column("x")]
            model = tf.keras.Sequential([tf.keras.layers.DenseFeatures(columns), tf.keras.layers.Dense(1)])
            values = {"x": np.array([[1.0], [2.0]], np.float32)}
            expected, path = model.predict(values), str(tmp_path / f"m{eagerly:d}")
            model.save(path, save_format="tf")
            np.testing.assert_allclose(tf.keras.models.load_model(path).predict(values), expected)
