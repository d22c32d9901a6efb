"""What `compile`, `fit` and their siblings say about arguments and data that do not fit, in TensorFlow's words."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tfexp as tf

_RANDOM = np.random.RandomState(0)
X = _RANDOM.rand(10, 3)
Y = _RANDOM.rand(10, 2)


@pytest.fixture(scope="module", autouse=True)
def own_graph() -> Iterator[None]:
    tf.keras.backend.clear_session()
    yield
    tf.keras.backend.clear_session()


def made(outputs: int = 1, inputs: int = 1) -> Any:
    layers = tf.keras.layers
    given = [tf.keras.Input((3,), name=name) for name in ("x", "z")[:inputs]]
    joined = layers.add(given) if inputs > 1 else given[0]
    return tf.keras.Model(given, [layers.Dense(2)(joined) for _ in range(outputs)])


@pytest.fixture(scope="module")
def one() -> Any:
    """A model of one input `x` and one output, compiled."""
    model = made()
    model.compile("sgd", "mse")
    return model


@pytest.fixture(scope="module")
def two() -> Any:
    """A model of the inputs `x` and `z`, of two outputs."""
    model = made(2, 2)
    model.compile("sgd", "mse")
    return model


def yielding(*made: Any) -> Iterator[Any]:
    while True:
        yield made


COMPILED: list[tuple[int, dict[str, Any], type[Exception], str]] = [
    (
        1,
        {"loss": {"q": "mse"}},
        ValueError,
        "Unknown entries in loss dictionary: ['q']. Only expected following keys: ['dense",
    ),
    (
        1,
        {"loss": ["mse", "mse"]},
        ValueError,
        "When passing a list as loss, it should have one entry per model outputs. The model has 1 outputs, but you passed "
        "loss=['mse', 'mse']",
    ),
    (1, {"loss": None}, ValueError, "The model cannot be compiled because it has no loss to optimize."),
    (1, {"loss_weights": {"q": 1}}, ValueError, "Unknown entries in loss_weights dictionary: ['q']"),
    (
        1,
        {"loss_weights": [1, 2]},
        ValueError,
        "When passing a list as loss_weights, it should have one entry per model output.",
    ),
    (1, {"loss_weights": 3}, TypeError, "Could not interpret loss_weights argument: 3 - expected a list of dicts."),
    (1, {"metrics": {"q": "mse"}}, ValueError, "Unknown entries in metrics dictionary: ['q']"),
    (
        2,
        {"metrics": [["mae"]]},
        ValueError,
        "When passing a list of lists as `metrics`, it should have one entry per model output.",
    ),
    (1, {"metrics": 3}, TypeError, "Type of `metrics` argument not understood."),
    (2, {"sample_weight_mode": {"q": "temporal"}}, ValueError, "Unknown entries in sample_weight_mode dictionary: ['q']"),
    (2, {"sample_weight_mode": ["temporal"]}, ValueError, "but you passed 1_sample_weight_modes"),
    (1, {"sample_weight_mode": "odd"}, ValueError, "sample_weight_mode must be None, 'temporal' or 'samplewise', got 'odd'"),
    (
        2,
        {"target_tensors": [1]},
        ValueError,
        "When passing a list as `target_tensors`, it should have one entry per model output.",
    ),
    (
        1,
        {"target_tensors": {"q": 1}},
        ValueError,
        "Unknown entry in `target_tensors` dictionary: \"{'q'}\". Only expected the following keys: ['dense",
    ),
    (1, {"odd": 1}, TypeError, "Invalid keyword argument(s) in `compile`: {'odd'}"),
    (1, {"run_eagerly": True}, ValueError, "You can only set `run_eagerly=True` if eager execution is enabled."),
]


@pytest.mark.parametrize(("outputs", "arguments", "error", "text"), COMPILED)
def test_compile_refuses(outputs: int, arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        made(outputs).compile("sgd", **{"loss": "mse", **arguments})


@pytest.mark.parametrize("what", ["fit", "evaluate", "train_on_batch", "test_on_batch"])
def test_a_model_is_compiled_first(what: str) -> None:
    with pytest.raises(RuntimeError, match=r"You must compile your model before training/testing. Use `model.compile"):
        getattr(made(), what)(X, Y)


FITTED: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda m: m.fit(X[:, :2], Y),
        ValueError,
        "Error when checking input: expected x to have shape (3,) but got array with shape (2,)",
    ),
    (
        lambda m: m.fit(np.ones((10, 4, 2)), Y),
        ValueError,
        "Error when checking input: expected x to have 2 dimensions, but got array with shape (10, 4, 2)",
    ),
    (
        lambda m: m.fit(X, np.ones((10, 4))),
        ValueError,
        "A target array with shape (10, 4) was passed for an output of shape (None, 2) while using as loss "
        "`mean_squared_error`. This loss expects targets to have the same shape as the output.",
    ),
    (
        lambda m: m.fit(X, Y[:5]),
        ValueError,
        "Input arrays should have the same number of samples as target arrays. Found 10 input samples and 5 target samples.",
    ),
    (
        lambda m: m.fit(X, [Y, Y]),
        ValueError,
        "Error when checking model target: the list of Numpy arrays that you are passing to your model is not the size "
        "the model expected. Expected to see 1 array(s), for inputs ['dense",
    ),
    (
        lambda m: m.fit([X, X], Y),
        ValueError,
        "Expected to see 1 array(s), for inputs ['x'] but instead got the following list of 2",
    ),
    (lambda m: m.fit({"q": X}, Y), ValueError, "No data provided for \"x\". Need data for each key in: ['x']"),
    (lambda m: m.fit(X, {"q": Y}), ValueError, 'No data provided for "dense'),
    (lambda m: m.fit(X), ValueError, "Error when checking model target: no data was given for ['dense"),
    (lambda m: m.fit("odd", Y), ValueError, "data should be NumPy arrays, or lists or dictionaries of them; got 'odd'"),
    (lambda m: m.fit(X, Y, odd=1), TypeError, "Unrecognized keyword arguments: {'odd': 1}"),
    (
        lambda m: m.fit(X, Y, sample_weight=np.ones((10, 2))),
        ValueError,
        "Found a sample_weight array with shape (10, 2). In order to use timestep-wise sample weights, you should specify "
        'sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise weights, ',
    ),
    (
        lambda m: m.fit(X, Y, sample_weight=np.ones(5)),
        ValueError,
        "Found a sample_weight array with shape (5,) for an input with shape (10, 2). sample_weight cannot be broadcast.",
    ),
    (
        lambda m: m.fit(X, Y, class_weight={0: 1.0}),
        ValueError,
        "`class_weight` must contain all classes in the data. The classes {1} exist in the data but not in `class_weight`.",
    ),
    (
        lambda m: m.fit(X, np.ones((10, 2, 2)), class_weight={0: 1.0}),
        ValueError,
        "`class_weight` not supported for 3+ dimensional targets.",
    ),
    (
        lambda m: m.fit(X, Y, validation_data=(X,)),
        ValueError,
        "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items",
    ),
    (
        lambda m: m.fit(X, Y, validation_data=(X, Y), validation_freq=0),
        ValueError,
        "`validation_freq` can not be less than 1.",
    ),
    (
        lambda m: m.fit(X, Y, validation_data=(X, Y), validation_freq="a"),
        ValueError,
        "`validation_freq` must be an Integer or",
    ),
    (lambda m: m.fit(yielding(X, Y), Y), ValueError, "`y` argument is not supported when data isa generator"),
    (lambda m: m.fit(yielding(X, Y), sample_weight=Y), ValueError, "`sample_weight` argument is not supported when data is"),
    (lambda m: m.fit(yielding(X, Y), validation_split=0.1), ValueError, "you cannot use `validation_split`"),
    (lambda m: m.fit(yielding(X, Y), batch_size=2), ValueError, "The `batch_size` argument must not be specified"),
    (lambda m: m.fit(yielding(X, Y)), ValueError, "Please specify the number of steps via the `steps_per_epoch` argument."),
    (
        lambda m: m.fit(yielding(X, Y), steps_per_epoch=1, validation_data=yielding(X, Y)),
        ValueError,
        "Please specify the `validation_steps` argument.",
    ),
    (lambda m: m.evaluate(yielding(X, Y)), ValueError, "Please specify the number of steps via the `steps` argument."),
    (
        lambda m: m.fit(yielding(X, Y, Y, Y), steps_per_epoch=1, workers=0),
        ValueError,
        "Output of generator should be a tuple of 1 or 2 or 3 elements",
    ),
    (
        lambda m: m.fit(tf.data.Dataset.from_tensors((X, Y)).repeat()),
        ValueError,
        "When passing an infinitely repeating dataset, you must specify the `steps_per_epoch` argument.",
    ),
    (
        lambda m: m.fit(X, Y, validation_data=tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors((X, Y)))),
        ValueError,
        "When using iterators as input to a model, you should specify the `validation_steps` argument.",
    ),
    *(
        (
            lambda m, name=name: getattr(m, name)(tf.data.make_one_shot_iterator(tf.data.Dataset.from_tensors((X, Y)))),
            ValueError,
            "Please directly pass in the original `Dataset` object instead of passing in `iter(dataset)`.",
        )
        for name in ("fit", "evaluate", "predict")
    ),
    (
        lambda m: m.evaluate(tf.constant(X, tf.float32), tf.constant(Y, tf.float32)),
        ValueError,
        "When using data tensors as input to a model, you should specify the `steps` argument.",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), FITTED)
def test_data_that_does_not_fit_is_refused(one: Any, call: Callable[[Any], Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call(one)


OF_TWO: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda m: m.fit([X, X[:9]], [Y, Y]),
        ValueError,
        "All input arrays (x) should have the same number of samples. Got array shapes: [(10, 3), (9, 3)]",
    ),
    (lambda m: m.fit({"x": X}, [Y, Y]), ValueError, "No data provided for \"z\". Need data for each key in: ['x', 'z']"),
    (
        lambda m: m.fit([X, X], [Y, Y], sample_weight=[np.ones(10)]),
        ValueError,
        "Provided `sample_weight` was a list of 1 elements, but the model has 2 outputs.",
    ),
    (
        lambda m: m.fit([X, X], [Y, Y], sample_weight=np.ones(10)),
        TypeError,
        "The model has multiple outputs, so `sample_weight` should be either a list or a dict.",
    ),
    (
        lambda m: m.fit([X, X], [Y, Y], class_weight={0: 1.0}),
        ValueError,
        "Unknown entries in class_weight dictionary: [0]. Only expected following keys: ['dense",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), OF_TWO)
def test_data_that_does_not_fit_several_outputs_is_refused(
    two: Any, call: Callable[[Any], Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call(two)


def test_classes_are_asked_for_as_the_loss_takes_them() -> None:
    model = made()
    model.compile("sgd", "categorical_crossentropy")
    with pytest.raises(ValueError, match="expects targets to be binary matrices"):
        model.fit(X, np.ones((10, 1)))


def test_batches_of_a_model_with_states_are_whole() -> None:
    model = tf.keras.Sequential([tf.keras.layers.SimpleRNN(2, stateful=True, batch_input_shape=(4, 3, 1))])
    model.compile("sgd", "mse")
    data = np.ones((10, 3, 1))
    with pytest.raises(ValueError, match=r"that can be divided by the batch size. Found: 10 samples"):
        model.fit(data, Y)
    with pytest.raises(
        ValueError, match="argument value 2 is incompatible with the specified batch size of your Input Layer: 4"
    ):
        model.fit(data[:8], Y[:8], batch_size=2)


def test_outputs_without_a_loss_take_no_targets(caplog: pytest.LogCaptureFixture) -> None:
    given = tf.keras.Input((3,))
    hidden = tf.keras.layers.Dense(2, name="hidden")(given)
    model = tf.keras.Model(given, [hidden, tf.keras.layers.Dense(2, name="last")(hidden)])
    with caplog.at_level(logging.WARNING, "tensorflow"):
        model.compile("sgd", {"last": "mse"}, metrics={"hidden": ["mae"]})
    assert "Output hidden missing from loss dictionary." in caplog.text
    assert model.metrics_names == ["loss", "last_loss"]
    assert len(model.fit(X, Y, verbose=0).history) == 2


@pytest.mark.parametrize(
    ("metrics", "names"),
    [
        ([["mae"], ["acc", "mse"]], ["a_mean_absolute_error", "b_acc", "b_mean_squared_error"]),
        (["mae", ["acc"]], ["a_mean_absolute_error", "b_acc"]),
        (["mae", "accuracy"], ["a_mean_absolute_error", "a_acc", "b_mean_absolute_error", "b_acc"]),
        ({"a": ["mae", "acc"]}, ["a_mean_absolute_error", "a_acc"]),
    ],
)
def test_metrics_are_named_by_output(metrics: Any, names: list[str]) -> None:
    given = tf.keras.Input((3,))
    tensors = [tf.keras.layers.Dense(2, name="a")(given), tf.keras.layers.Dense(2, name="b")(given)]
    model = tf.keras.Model(given, tensors)
    model.compile("sgd", "mse", metrics=metrics)
    assert model.metrics_names == ["loss", "a_loss", "b_loss", *names]


def test_what_is_no_longer_said_this_way_still_works(one: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert len(one.fit(X, Y, nb_epoch=2, verbose=0).epoch) == 2
        assert len(one.fit(X, Y, steps_per_epoch=2, verbose=0).epoch) == 1
    assert "The `nb_epoch` argument in `fit` has been renamed `epochs`." in caplog.text
    assert "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` argument." in caplog.text


def test_training_ends_with_the_data(one: Any, caplog: pytest.LogCaptureFixture) -> None:
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(5)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        assert len(one.fit(data, steps_per_epoch=5, epochs=3, verbose=0).epoch) == 1
        assert len(one.fit(iter([(X, Y)]), steps_per_epoch=3, epochs=2, verbose=0, workers=0).epoch) == 1
    assert "Your dataset ran out of data; interrupting training." in caplog.text
    assert "`steps_per_epoch * epochs` batches (in this case, 15 batches)" in caplog.text
    assert "Your iterator ran out of data" in caplog.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda data: data.map(lambda x, y: (x, y)).batch(2).repeat(2), True),
        (lambda data: tf.data.Dataset.zip((data, data)).map(lambda one, other: one).batch(2), True),
        (lambda data: data.shuffle(3).batch(2).prefetch(1), False),
        (lambda data: data.flat_map(lambda x, y: tf.data.Dataset.from_tensors((x, y))).batch(2), False),  # who knows
    ],
)
def test_a_dataset_in_order_is_said(one: Any, caplog: pytest.LogCaptureFixture, change: Any, said: bool) -> None:
    data = change(tf.data.Dataset.from_tensor_slices((X, Y)))
    with caplog.at_level(logging.WARNING, "tensorflow"):
        one.fit(data, steps_per_epoch=1, verbose=0, shuffle=False)
        assert "Expected a shuffled dataset" not in caplog.text
        one.fit(data, steps_per_epoch=1, verbose=0)
    assert ("Expected a shuffled dataset but input dataset `x` is not shuffled." in caplog.text) is said


def test_weights_of_steps_need_steps() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    with pytest.raises(ValueError, match="is restricted to outputs that are at least 3D"):
        model.train_on_batch(np.ones((5, 3)), np.ones((5, 2)))


def test_a_loss_that_is_not_reduced_is_averaged_row_by_row() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile(tf.keras.optimizers.SGD(0.0), tf.keras.losses.MeanSquaredError(reduction="none"))
    x, y = np.array([[1.0], [2.0], [3.0], [5.0]]), np.zeros((4, 1))
    np.testing.assert_allclose(model.evaluate(x, y, batch_size=2, verbose=0), [(1 + 9) / 2, (4 + 25) / 2], rtol=1e-6)
    np.testing.assert_allclose(model.fit(x, y, verbose=0, shuffle=False).history["loss"], [[1, 4, 9, 25]], rtol=1e-6)
