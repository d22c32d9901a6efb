"""What Keras's optimizers have: names of variables, hyperparameters to be set, configurations, checkpoints, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.optimizers import TFOptimizer, schedules
from tfexp.runtime.eager import eager_mode

K = tf.keras.backend
optimizers = tf.keras.optimizers
NAMES = ("SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam", "Ftrl")


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as g, tf.Session(graph=g) as session:
        K.set_session(session)
        yield g
        K.set_session(None)


def variable(value: Any = (1.0, 2.0), name: str = "dense/kernel") -> Any:
    return tf.Variable(np.float32(value), name=name, use_resource=True)


def ready() -> Any:
    session = K.get_session()
    session.run(tf.global_variables_initializer())
    return session


def square(v: Any) -> Any:
    return tf.reduce_sum(v * v)


# --- variables ----------------------------------------------------------------------------------------------------------

SLOTS = {
    "SGD": [],
    "RMSprop": ["rms"],
    "Adagrad": ["accumulator"],
    "Adadelta": ["accum_grad", "accum_var"],
    "Adam": ["m", "v"],
    "Adamax": ["m", "v"],
    "Nadam": ["m", "v"],
    "Ftrl": ["accumulator", "linear"],
}


@pytest.mark.parametrize("name", NAMES)
def test_variables_are_named_as_tensorflow_s(name: str) -> None:
    optimizer, v = getattr(optimizers, name)(), variable()
    assert optimizer.weights == []
    with tf.name_scope("training"):
        optimizer.get_updates(square(v), [v])
    own = ["iter"] + (["momentum_cache"] if name == "Nadam" else [])
    wanted = [f"training/{name}/{one}:0" for one in own + [f"dense/kernel/{slot}" for slot in SLOTS[name]]]
    assert [w.name for w in optimizer.weights] == wanted
    assert optimizer.get_slot_names() == SLOTS[name]
    assert optimizer.lr.name == f"training/{name}/learning_rate:0"
    assert all(w in tf.global_variables() for w in optimizer.weights)
    assert not any(w.trainable for w in optimizer.weights)


def test_a_second_optimizer_has_a_scope_of_its_own() -> None:
    v = variable(name="a/v")
    steps = [optimizers.SGD(momentum=0.9).minimize(lambda: square(v), [v]) for _ in range(2)]
    assert [op.name for op in steps] == ["SGD/SGD/AssignAddVariableOp", "SGD_1/SGD/AssignAddVariableOp"]


def test_slots_are_found_by_variable_and_name() -> None:
    optimizer, v = optimizers.Adam(), variable()
    optimizer.minimize(lambda: square(v), [v])
    assert optimizer.get_slot(v, "m") is optimizer.weights[1]
    with pytest.raises(KeyError, match="momentum"):
        optimizer.get_slot(v, "momentum")


def test_values_of_weights_are_read_and_set() -> None:
    optimizer, v = optimizers.Adam(), variable()
    optimizer.get_updates(square(v), [v])
    ready()
    values = [np.array(7), np.float32([3.0, 4.0]), np.float32([5.0, 6.0])]
    optimizer.set_weights(values)
    for found, value in zip(optimizer.get_weights(), values, strict=True):
        np.testing.assert_array_equal(found, value)
    with pytest.raises(ValueError, match=r"on optimizer Adam with a  weight list of length 2, but .* expecting 3 weights"):
        optimizer.set_weights(values[:2])
    with pytest.raises(ValueError, match=r"Optimizer weight shape \(2,\) not compatible with .* shape \(3,\)"):
        optimizer.set_weights([values[0], np.zeros(3), values[2]])


def test_weights_of_older_files_fit() -> None:
    adam, v = optimizers.Adam(), variable()
    adam.get_updates(square(v), [v])
    rms = optimizers.RMSprop()
    rms.get_updates(square(v), [v])
    ready()
    adam.set_weights([np.array(1), *np.ones([3, 2], np.float32)])
    rms.set_weights([np.float32([2.0, 3.0])])
    assert K.get_value(rms.iterations) == 0
    np.testing.assert_array_equal(rms.get_weights()[1], [2.0, 3.0])


def test_adagrad_by_name_begins_with_accumulators_of_0() -> None:
    by_name, made = tf.keras.optimizers.get("adagrad"), tf.keras.optimizers.Adagrad()
    assert (by_name.get_config()["initial_accumulator_value"], made.get_config()["initial_accumulator_value"]) == (0.0, 0.1)
    kept = tf.keras.optimizers.Adagrad.from_config({"lr": 0.5, "initial_accumulator_value": 0.3}).get_config()
    assert (kept["learning_rate"], kept["initial_accumulator_value"]) == (0.5, 0.3)


def test_iterations_may_be_a_variable_of_another_s() -> None:
    optimizer, v, step = optimizers.SGD(), variable(), tf.train.get_or_create_global_step()
    optimizer.iterations = step
    train = optimizer.get_updates(square(v), [v])
    ready().run(train)
    assert K.get_value(step) == 1
    with pytest.raises(RuntimeError, match="Cannot set `iterations` to a new Variable after"):
        optimizer.iterations = step


# --- hyperparameters ----------------------------------------------------------------------------------------------------


def test_hyperparameters_are_set_before_and_after_they_are_variables() -> None:
    optimizer, v = optimizers.SGD(lr=0.5, momentum=0.5), variable()
    optimizer.lr = 0.25
    train = optimizer.get_updates(square(v), [v])
    session = ready()
    session.run(train)
    np.testing.assert_allclose(K.get_value(v), [0.5, 1.0])
    optimizer.learning_rate = 0.0
    K.set_value(optimizer.momentum, 1.0)
    session.run(train)
    np.testing.assert_allclose(K.get_value(v), [0.0, 0.0])
    assert optimizer.get_config() == {"name": "SGD", "learning_rate": 0, "decay": 0, "momentum": 1, "nesterov": False}
    assert {"lr", "momentum"} <= set(dir(optimizer))
    with pytest.raises(AttributeError, match="'SGD' object has no attribute 'beta_1'"):
        optimizer.beta_1  # noqa: B018


def test_hyperparameters_may_be_functions_and_tensors() -> None:
    v, fed = variable(), tf.placeholder_with_default(np.float32(0.25), [])
    by_function = optimizers.SGD(lambda: 0.25).get_updates(square(v), [v])
    by_tensor = optimizers.SGD(fed).get_updates(square(v), [v])
    session = ready()
    session.run(by_function)
    session.run(by_tensor)
    np.testing.assert_allclose(K.get_value(v), [0.25, 0.5])
    session.run(by_tensor, {fed: 0.5})
    np.testing.assert_allclose(K.get_value(v), [0.0, 0.0])


def test_a_schedule_follows_the_iterations() -> None:
    v = variable([1.0])
    optimizer = optimizers.SGD(schedules.PiecewiseConstantDecay([1, 2], [1.0, 0.5, 0.25]))
    train = optimizer.get_updates(tf.reduce_sum(v), [v])
    session = ready()
    seen = [float((session.run(train), K.get_value(v))[1][0]) for _ in range(4)]
    assert seen == [0.0, -1.0, -1.5, -1.75]
    config = optimizer.get_config()
    assert config["learning_rate"] == {
        "class_name": "PiecewiseConstantDecay",
        "config": {"boundaries": [1, 2], "values": [1.0, 0.5, 0.25], "name": None},
    }
    assert isinstance(optimizers.SGD.from_config(config).lr, schedules.PiecewiseConstantDecay)


# --- configurations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_configurations_come_back(name: str) -> None:
    made = getattr(optimizers, name)(learning_rate=0.5, name="mine", clipnorm=1.0)
    description = optimizers.serialize(made)
    assert description["class_name"] == name
    assert description["config"]["learning_rate"] == 0.5
    for class_name in (name, name.lower()):
        again = optimizers.get({**description, "class_name": class_name})
        assert type(again) is type(made)
        assert {**again.get_config(), "decay": 0} == {**made.get_config(), "decay": 0}


SCHEDULES = [
    schedules.ExponentialDecay(0.1, 10, 0.5, staircase=True),
    schedules.InverseTimeDecay(0.1, 10, 0.5),
    schedules.PolynomialDecay(0.1, 10, power=2.0),
    schedules.CosineDecay(0.1, 10),
    schedules.CosineDecayRestarts(0.1, 10, t_mul=3.0),
    schedules.LinearCosineDecay(0.1, 10),
    schedules.NoisyLinearCosineDecay(0.1, 10, initial_variance=0.0),
]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda s: type(s).__name__)
def test_schedules_come_back(schedule: Any) -> None:
    again = schedules.deserialize(schedules.serialize(schedule))
    assert vars(again) == vars(schedule)
    rate, same_rate = ready().run([schedule(tf.constant(3.0)), again(tf.constant(3.0))])
    assert rate == same_rate > 0


def test_a_schedule_of_one_s_own() -> None:
    class Halved(schedules.LearningRateSchedule):
        def __call__(self, step: Any) -> Any:
            return 1.0 / 2.0 ** tf.cast(step, tf.float32)

    v = variable([2.0])
    train = optimizers.SGD(Halved()).get_updates(tf.reduce_sum(v), [v])
    session = ready()
    assert [float((session.run(train), K.get_value(v))[1][0]) for _ in range(3)] == [1.0, 0.5, 0.25]
    with pytest.raises(NotImplementedError, match="must override get_config"):
        Halved().get_config()


# --- a step -------------------------------------------------------------------------------------------------------------


def test_constraints_hold_after_a_step() -> None:
    v = tf.Variable([1.0, -1.0], constraint=lambda x: tf.maximum(x, 0.25), use_resource=True)
    train = optimizers.SGD(0.5).get_updates(tf.reduce_sum(v), [v])
    ready().run(train)
    np.testing.assert_allclose(K.get_value(v), [0.5, 0.25])
    with pytest.raises(RuntimeError, match="Cannot use a constraint function on a sparse variable"):
        optimizers.SGD().minimize(lambda: tf.reduce_sum(tf.gather(v, [0])), [v])


def test_an_optimizer_of_one_s_own() -> None:
    class Signs(optimizers.Optimizer):  # type: ignore[name-defined,misc]
        def __init__(self, rate: float, name: str = "Signs", **kwargs: Any):
            super().__init__(name, **kwargs)
            self._set_hyper("rate", rate)

        def _resource_apply_dense(self, grad: Any, var: Any) -> Any:
            return var.assign_sub(self._get_hyper("rate", var.dtype.base_dtype) * tf.sign(grad)).op

        def get_config(self) -> dict[str, Any]:
            return {**super().get_config(), "rate": self._serialize_hyperparameter("rate")}

    v = variable()
    signs = Signs(0.5)
    train = signs.minimize(lambda: square(v), [v])
    ready().run(train)
    np.testing.assert_allclose(K.get_value(v), [0.5, 1.5])
    assert Signs.from_config(signs.get_config()).rate.name == "rate:0"
    with tf.keras.utils.custom_object_scope({"Signs": Signs}):
        assert isinstance(optimizers.get({"class_name": "Signs", "config": {"rate": 1.0}}), Signs)
    with pytest.raises(NotImplementedError, match="Signs does not say how it applies a sparse gradient"):
        signs.minimize(lambda: tf.reduce_sum(tf.gather(v, [0])), [v])


def test_optimizers_of_train_are_wrapped() -> None:
    v = variable()
    wrapped = optimizers.get(tf.train.MomentumOptimizer(0.25, 0.9))
    assert isinstance(wrapped, TFOptimizer) and optimizers.get(wrapped) is wrapped
    train = wrapped.get_updates(square(v), [v])
    ready().run(train)
    np.testing.assert_allclose(K.get_value(v), [0.5, 1.0])
    assert K.get_value(wrapped.iterations) == 1
    for ask in (
        *(wrapped.get_config, wrapped.get_weights, lambda: wrapped.set_weights([]), lambda: wrapped.weights),
        lambda: TFOptimizer.from_config({}),
    ):
        with pytest.raises(NotImplementedError):
            ask()


def test_checkpoints_know_hyperparameters_and_slots(tmp_path: Path) -> None:
    optimizer, v = optimizers.Nadam(), variable()
    train = optimizer.get_updates(square(v), [v])
    session = ready()
    session.run(train)
    checkpoint = tf.train.Checkpoint(optimizer=optimizer, v=v)
    path = checkpoint.save(str(tmp_path / "at"), session=session)
    before = optimizer.get_weights()
    session.run(train)
    checkpoint.restore(path).assert_consumed().run_restore_ops(session)
    for one, other in zip(optimizer.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    keys = [name.removesuffix("/.ATTRIBUTES/VARIABLE_VALUE") for name, _ in tf.train.list_variables(path)]
    assert keys == [
        "_CHECKPOINTABLE_OBJECT_GRAPH",
        "optimizer/beta_1",
        "optimizer/beta_2",
        "optimizer/decay",
        "optimizer/iter",
        "optimizer/learning_rate",
        "optimizer/momentum_cache",
        "save_counter",
        "v",
        "v/.OPTIMIZER_SLOT/optimizer/m",
        "v/.OPTIMIZER_SLOT/optimizer/v",
    ]


# TensorFlow 2.15's, after two dense steps and a sparse one.
EAGERLY = {
    "SGD": [-0.04599997, 0.10800004, 1.38, 1.84],
    "RMSprop": [0.21781754, 1.2941833, 2.426524, 3.4225693],
    "Adagrad": [0.77536905, 1.7975148, 2.8306844, 3.8302953],
    "Adadelta": [0.9995709, 1.9996313, 2.9997153, 3.9997153],
    "Adam": [0.7005186, 1.7058359, 2.7229207, 3.7228699],
    "Adamax": [0.70848936, 1.7224848, 2.8016562, 3.801217],
    "Nadam": [0.74464184, 1.7701322, 2.817243, 3.8169224],
    "Ftrl": [0.6235259, 1.641892, 2.674826, 3.6737983],
}
OPTIONS: dict[str, dict[str, Any]] = {"SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "RMSprop": {"centered": True}}


@pytest.mark.parametrize("name", NAMES)
def test_steps_are_taken_at_once_in_eager_execution(name: str) -> None:
    with eager_mode():
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="v")
        optimizer = getattr(optimizers, name)(learning_rate=0.1, **OPTIONS.get(name, {}))
        for _ in range(2):
            optimizer.minimize(lambda: square(v), [v])
        optimizer.minimize(lambda: tf.reduce_sum(tf.gather(v, [0, 0])), lambda: [v])
        np.testing.assert_allclose(v.numpy().ravel(), EAGERLY[name], rtol=1e-5, atol=1e-6)
        assert optimizer.iterations.numpy() == 3
        optimizer.lr = 0.5
        assert optimizer.lr.numpy() == 0.5


def test_steps_in_functions() -> None:
    with eager_mode():
        optimizer, v = optimizers.Adam(0.1), tf.Variable([1.0, 2.0])

        @tf.function
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((v - x) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, v), v)])
            return loss

        seen = [float(step(tf.constant([0.0, 0.0]))) for _ in range(3)]
        np.testing.assert_allclose(seen, [5.0, 4.4200006, 3.8812618], rtol=1e-6)
        np.testing.assert_allclose(v.numpy(), [0.70158666, 1.7006236], rtol=1e-6)
        assert optimizer.iterations.numpy() == 3


# --- errors -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: optimizers.Adam(foo=1), TypeError, "Unexpected keyword argument passed to optimizer: foo"),
        (lambda: optimizers.Adam(clipnorm=-1.0), ValueError, "Expected clipnorm >= 0, received: -1.0"),
        (lambda: optimizers.SGD(momentum=2.0), ValueError, r"`momentum` must be between \[0, 1\]"),
        (lambda: optimizers.RMSprop(momentum=-1), ValueError, r"`momentum` must be between \[0, 1\]"),
        (lambda: optimizers.Adagrad(initial_accumulator_value=-1), ValueError, "must be non-negative: -1"),
        (lambda: optimizers.Ftrl(initial_accumulator_value=-1), ValueError, "needs to be positive or zero"),
        (lambda: optimizers.Ftrl(learning_rate_power=1), ValueError, "needs to be negative or zero"),
        (lambda: optimizers.Ftrl(l2_shrinkage_regularization_strength=-1), ValueError, "needs to be positive or zero"),
        (lambda: optimizers.Nadam(SCHEDULES[0]), ValueError, "does not support tf.keras.optimizers.LearningRateSchedules"),
        (lambda: optimizers.get("foo"), ValueError, "Unknown optimizer: foo"),
        (lambda: optimizers.get(3), ValueError, "Could not interpret optimizer identifier"),
        (lambda: schedules.PiecewiseConstantDecay([1], [1.0]), ValueError, "boundaries should be 1 less than"),
    ],
)
def test_arguments_that_cannot_be(make: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        make()


@pytest.mark.parametrize("name", [name for name in NAMES if SLOTS[name]])
def test_slots_beside_variables_in_old_style_are_refused(name: str) -> None:
    old = tf.Variable([1.0, 2.0], use_resource=False)
    with pytest.raises(ValueError, match="Tensor conversion requested dtype float32_ref for Tensor with dtype float32"):
        getattr(optimizers, name)().apply_gradients([(tf.constant([0.1, 0.2]), old)])


def test_gradients_that_are_none() -> None:
    v, w, optimizer = variable(), variable(name="w"), optimizers.SGD()
    with pytest.raises(ValueError, match="has `None` for gradient"):
        optimizer.get_gradients(square(v), [v, w])
    with pytest.raises(ValueError, match=r"No gradients provided for any variable: \['w:0'\]"):
        optimizer.apply_gradients([(None, w)])
    nothing = optimizer.apply_gradients([])
    session = tf.keras.backend.get_session()
    session.run(optimizer.iterations.initializer)
    session.run(nothing)
    assert session.run(optimizer.iterations) == 1  # a step all the same
    wrapped = optimizers.get(tf.train.GradientDescentOptimizer(0.1))
    (counted,) = wrapped.get_updates(tf.constant(1.0), [])
    session.run(wrapped.iterations.initializer)
    assert session.run(counted) == 1
    with pytest.raises(TypeError, match="`loss` has to be a function"):
        optimizer.minimize(square(v), [v])
