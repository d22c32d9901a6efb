"""Programs that train models on a little data and return numbers; the same for TensorFlow and for tfexp.

Each takes `tf` and gives what can be written as JSON. `record_histories.py` runs them under TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], Any]] = {}
_RANDOM = np.random.RandomState(7)
X = _RANDOM.rand(11, 3)
Y = _RANDOM.rand(11, 2)
CLASSES = _RANDOM.randint(0, 2, 11)
ONE_HOT = np.eye(2)[CLASSES]
STEPS = _RANDOM.rand(7, 5, 3)
OF_STEPS = _RANDOM.rand(7, 5, 2)
WEIGHTS = _RANDOM.rand(11)


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def plain(value: Any) -> Any:
    """Arrays as lists, of numbers as Python's own."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return np.asarray(value, dtype=np.float64).tolist() if np.ndim(value) else float(value)


def with_weights(model: Any, seed: int = 5) -> Any:
    """The model with weights that do not hang on how a library draws random numbers."""
    random = np.random.RandomState(seed)
    model.set_weights([random.uniform(-0.5, 0.5, weight.shape) for weight in model.get_weights()])
    return model


def one_output(tf: Any, activation: Any = None) -> Any:
    layers = tf.keras.layers
    return with_weights(
        tf.keras.Sequential([layers.Dense(4, activation="tanh", input_shape=(3,)), layers.Dense(2, activation=activation)])
    )


def two_outputs(tf: Any) -> Any:
    layers = tf.keras.layers
    first, second = tf.keras.Input((3,), name="first"), tf.keras.Input((3,), name="second")
    joined = layers.add([layers.Dense(4, activation="relu", name="hidden")(first), layers.Dense(4, name="other")(second)])
    outputs = [layers.Dense(2, name="a")(joined), layers.Dense(2, activation="softmax", name="b")(joined)]
    return with_weights(tf.keras.Model([first, second], outputs))


@program
def shuffled(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("sgd", "mse", metrics=["mae", "accuracy"])
    np.random.seed(3)
    history = model.fit(X, Y, batch_size=4, epochs=3, validation_split=0.2, verbose=0)
    return plain(history.history), plain(model.get_weights())


@program
def shuffled_by_batches(tf: Any) -> Any:
    model = one_output(tf)
    model.compile(tf.keras.optimizers.SGD(0.1, momentum=0.9), "mse")
    np.random.seed(4)
    return plain(model.fit(X, Y, batch_size=2, epochs=3, shuffle="batch", verbose=0).history)


@program
def in_order(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("adam", "mse")
    first = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0, validation_data=(X[:5], Y[:5], WEIGHTS[:5]))
    again = model.fit(X, Y, batch_size=4, epochs=5, initial_epoch=2, shuffle=False, verbose=0)
    some = model.fit(X, Y, epochs=4, verbose=0, shuffle=False, validation_data=(X, Y), validation_freq=[1, 3])
    return plain([first.history, again.history, again.epoch, some.history])


@program
def several_outputs(tf: Any) -> Any:
    model = two_outputs(tf)
    model.compile(
        "adam",
        {"a": "mse", "b": "categorical_crossentropy"},
        metrics={"a": ["mae", "mse"], "b": "acc"},
        loss_weights=[0.5, 2.0],
        weighted_metrics={"a": ["mae"], "b": ["accuracy"]},
    )
    inputs, targets = {"first": X, "second": X[:, ::-1]}, {"a": Y, "b": ONE_HOT}
    found = [model.fit(inputs, targets, batch_size=4, epochs=2, shuffle=False, verbose=0).history]
    found.append(model.fit(inputs, targets, sample_weight={"a": WEIGHTS}, batch_size=4, shuffle=False, verbose=0).history)
    found.append(model.fit(inputs, targets, class_weight={"b": {0: 1.0, 1: 3.0}}, shuffle=False, verbose=0).history)
    found.append(model.fit([X, X], [Y, ONE_HOT], sample_weight=[WEIGHTS, WEIGHTS * 2], shuffle=False, verbose=0).history)
    return model.metrics_names, plain(found), plain(model.evaluate(inputs, [Y, ONE_HOT], batch_size=3, verbose=0))


@program
def classes(tf: Any) -> Any:
    found = []
    for loss, targets in (
        ("sparse_categorical_crossentropy", CLASSES),
        ("categorical_crossentropy", ONE_HOT),
        ("binary_crossentropy", ONE_HOT),
        (tf.keras.losses.CategoricalCrossentropy(label_smoothing=0.1), ONE_HOT),
    ):
        model = one_output(tf, "sigmoid" if loss == "binary_crossentropy" else "softmax")
        model.compile("sgd", loss, metrics=["acc"])
        found.append(model.fit(X, targets, epochs=2, batch_size=4, shuffle=False, verbose=0).history)
        found.append(model.fit(X, targets, batch_size=4, shuffle=False, verbose=0, class_weight={0: 0.5, 1: 2.0}).history)
    return plain(found)


@program
def weights_of_samples(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    found = [
        model.fit(X, Y, sample_weight=WEIGHTS, batch_size=4, epochs=2, shuffle=False, verbose=0).history,
        model.evaluate(X, Y, sample_weight=WEIGHTS, batch_size=4, verbose=0),
        model.fit(X, Y, sample_weight=WEIGHTS, validation_split=0.3, shuffle=False, verbose=0).history,
        model.evaluate(X, Y, batch_size=4, verbose=0),  # TensorFlow forgets about weights in testing from here on
    ]
    return model.metrics_names, plain(found)


@program
def weights_of_time_steps(tf: Any) -> Any:
    model = with_weights(tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(5, 3))]))
    model.compile("sgd", "mse", sample_weight_mode="temporal", weighted_metrics=["mae"])
    found = [
        model.fit(STEPS, OF_STEPS, sample_weight=STEPS[:, :, 0], batch_size=3, epochs=2, shuffle=False, verbose=0).history,
        model.fit(STEPS, OF_STEPS, batch_size=3, shuffle=False, verbose=0).history,
    ]
    return plain(found)


@program
def losses_and_metrics_of_layers(tf: Any) -> Any:
    layers = tf.keras.layers
    given = tf.keras.Input((3,))
    hidden = layers.Dense(4, kernel_regularizer=tf.keras.regularizers.l2(0.1), activity_regularizer="l1")(given)
    model = with_weights(tf.keras.Model(given, layers.Dense(2)(hidden)))
    model.add_loss(tf.reduce_mean(hidden) ** 2)
    model.add_metric(tf.reduce_sum(hidden), name="sum", aggregation="mean")
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return model.metrics_names, plain(history.history), plain(model.evaluate(X, Y, verbose=0))


@program
def only_added_losses(tf: Any) -> Any:
    given = tf.keras.Input((3,))
    output = tf.keras.layers.Dense(2)(given)
    model = with_weights(tf.keras.Model(given, output))
    model.add_loss(tf.reduce_mean(output**2))
    model.compile("sgd")
    return plain(model.fit(X, batch_size=4, epochs=2, shuffle=False, verbose=0).history)


@program
def updates_of_layers(tf: Any) -> Any:
    layers = tf.keras.layers
    model = with_weights(
        tf.keras.Sequential([layers.Dense(4, input_shape=(3,)), layers.BatchNormalization(momentum=0.5), layers.Dense(2)])
    )
    model.compile("sgd", "mse")
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0, validation_data=(X, Y))
    return plain(history.history), plain(model.predict(X, batch_size=4)), plain(model.get_weights())


@program
def single_batches(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("rmsprop", "mse", metrics=["mae"])
    found = [
        model.train_on_batch(X[:4], Y[:4]),
        model.train_on_batch(X[4:], Y[4:], reset_metrics=False),
        model.test_on_batch(X[:4], Y[:4], reset_metrics=False),
        model.train_on_batch(X, Y, sample_weight=WEIGHTS),
        model.train_on_batch(X, ONE_HOT, class_weight={0: 1.0, 1: 4.0}),
        model.predict_on_batch(X[:2]),
    ]
    return plain(found)


@program
def datasets(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("sgd", "mse", metrics=["mae"])
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    weighted = tf.data.Dataset.from_tensor_slices((X, Y, WEIGHTS)).batch(4)
    found = [
        model.fit(data, epochs=2, verbose=0, validation_data=data, validation_steps=2).history,
        model.fit(data.repeat(), steps_per_epoch=2, epochs=3, verbose=0).history,
        model.evaluate(data, verbose=0),
        model.evaluate(data, steps=2, verbose=0),
        model.predict(data, steps=2),
        model.fit(weighted, epochs=2, verbose=0).history,
    ]
    return plain(found)


def batches_of(weights: bool = False) -> Iterator[Any]:
    while True:
        for start in range(0, 11, 4):
            part = slice(start, start + 4)
            yield (X[part], Y[part], WEIGHTS[part]) if weights else (X[part], Y[part])


@program
def generators(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("sgd", "mse", metrics=["mae"])
    found = [
        model.fit(batches_of(), steps_per_epoch=3, epochs=2, verbose=0).history,
        model.fit_generator(batches_of(True), 2, verbose=0, validation_data=(X[:4], Y[:4]), workers=0).history,
        model.evaluate_generator(batches_of(), steps=3),
        model.predict_generator(batches_of(), steps=3),
        model.fit_generator(
            batches_of(), steps_per_epoch=2, verbose=0, validation_data=batches_of(), validation_steps=2
        ).history,
        model.fit_generator(batches_of(), steps_per_epoch=2, verbose=0, class_weight={0: 1.0, 1: 2.0}).history,
    ]
    return plain(found)


@program
def sequences(tf: Any) -> Any:
    class Parts(tf.keras.utils.Sequence):  # type: ignore[misc,name-defined]
        def __len__(self) -> int:
            return 3

        def __getitem__(self, place: int) -> Any:
            return X[place * 4 : place * 4 + 4], Y[place * 4 : place * 4 + 4]

    model = one_output(tf)
    model.compile("sgd", "mse")
    found = [
        model.fit(Parts(), epochs=2, shuffle=False, verbose=0, validation_data=Parts()).history,
        model.evaluate(Parts(), verbose=0),
        model.predict(Parts()),
    ]
    return plain(found)


@program
def whole_tensors(tf: Any) -> Any:
    model = one_output(tf)
    model.compile("sgd", "mse")
    x, y = tf.constant(X, tf.float32), tf.constant(Y, tf.float32)
    return plain([model.fit(x, y, steps_per_epoch=2, epochs=2, verbose=0).history, model.evaluate(x, y, steps=2, verbose=0)])


@program
def given_tensors(tf: Any) -> Any:
    given = tf.keras.Input(tensor=tf.constant(X, tf.float32))
    model = with_weights(tf.keras.Model(given, tf.keras.layers.Dense(2)(given)))
    model.compile("sgd", "mse", target_tensors=[tf.constant(Y, tf.float32)])
    found = [model.fit(None, None, epochs=2, steps_per_epoch=2, verbose=0).history, model.predict(None, steps=1)]
    return plain(found)


@program
def callbacks(tf: Any) -> Any:
    of = tf.keras.callbacks
    model = one_output(tf)
    model.compile("sgd", "mse")
    found = []
    for made in (
        [of.EarlyStopping("loss", min_delta=10, patience=2, restore_best_weights=True)],
        [of.ReduceLROnPlateau("loss", min_delta=10, patience=1, factor=0.5, cooldown=1, min_lr=0.002)],
        [of.LearningRateScheduler(lambda epoch, rate: rate * 0.5)],
        [of.LearningRateScheduler(lambda epoch: 0.1 / (epoch + 1))],
    ):
        fitted = model.fit(X, Y, batch_size=4, epochs=6, shuffle=False, verbose=0, validation_data=(X, Y), callbacks=made)
        found.append([fitted.history, fitted.epoch, model.get_weights()])
    return plain(found)


@program
def frozen_layers(tf: Any) -> Any:
    model = one_output(tf)
    model.layers[0].trainable = False
    model.compile("sgd", "mse")
    history = model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0)
    return plain(history.history), plain(model.get_weights())


@program
def built_by_data(tf: Any) -> Any:
    layers = tf.keras.layers

    class Own(tf.keras.Model):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(2, kernel_initializer="ones")

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    found = []
    for model in (tf.keras.Sequential([layers.Dense(2, kernel_initializer="ones")]), Own()):
        model.compile("sgd", "mse", metrics=["acc"])
        found.append(model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history)
        found.append(model.predict(X))
    return plain(found)


@program
def stateful(tf: Any) -> Any:
    model = with_weights(tf.keras.Sequential([tf.keras.layers.LSTM(2, stateful=True, batch_input_shape=(2, 5, 3))]))
    model.compile("sgd", "mse")
    found = [model.fit(STEPS[:6], Y[:6], batch_size=2, epochs=2, shuffle=False, verbose=0).history]
    model.reset_states()
    found.append(model.predict(STEPS[:4], batch_size=2))
    return plain(found)
