"""Trainings that are recorded from TensorFlow: every optimizer for twenty steps, and every update op by itself.

`trajectory` and `updates` take the `tf` module to use, so that the recorder and the tests run the same programs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.golden.programs.optimizers import OPTIMIZERS

Array = npt.NDArray[Any]

RECORDING = Path(__file__).parent / "training" / "trajectories.npz"
STEPS = 20
APPLICATIONS = 5
DTYPES = ("float32", "float64")


def drawn(seed: int, *shape: int, dtype: str = "float32", low: float = -1.0, high: float = 1.0) -> Array:
    """The same values everywhere and for ever: an own generator, as NumPy's may change its streams."""
    # A linear congruential generator, all its states at once: state[n] = a^n state[0] + c (a^(n-1) + ... + 1), modulo 2^64.
    count = int(np.prod(shape, dtype=int))
    powers = np.full(count + 1, 6364136223846793005, np.uint64)
    powers[0] = 1
    powers = np.cumprod(powers)
    states = powers[1:] * np.uint64(seed * 2654435761 + 12345) + np.cumsum(powers[:-1]) * np.uint64(1442695040888963407)
    values = (states >> np.uint64(40)) / 2.0**24
    array: Array = (low + (high - low) * values).reshape(shape).astype(dtype)
    return array


# --- optimizers --------------------------------------------------------------------------------------------------

# TensorFlow's proximal optimizers make float32 hyperparameters whatever the variables are.
TRAJECTORIES = [
    (optimizer, kind, dtype)
    for optimizer in OPTIMIZERS
    for kind in ("dense", "sparse")
    for dtype in DTYPES
    if dtype == "float32" or not optimizer.startswith("proximal")
]


def trajectory(tf: Any, optimizer: str, kind: str, dtype: str) -> dict[str, Array]:
    """Variables after each of STEPS steps, slots after the last. `kind`: `dense`, or `sparse` (rows, some repeatedly)."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.get_or_create_global_step()
        make = OPTIMIZERS[optimizer]
        if kind == "dense":
            variables, loss, feeds = _regression(tf, dtype)
        else:
            variables, loss, feeds = _table(tf, dtype)
        opt = make(tf)
        train = opt.minimize(loss, global_step=tf.train.get_global_step())
        slots = {f"{v.op.name} {name}": opt.get_slot(v, name) for v in variables for name in opt.get_slot_names()}
        session.run(tf.global_variables_initializer())
        seen: list[list[Array]] = []
        for step in range(STEPS):
            session.run(train, feeds(step))
            seen.append(session.run(variables))
        result = {v.op.name: np.stack([row[i] for row in seen]) for i, v in enumerate(variables)}
        result.update(session.run(slots))
        return result


Feeds = Callable[[int], dict[Any, Any]]


def _regression(tf: Any, dtype: str) -> tuple[list[Any], Any, Feeds]:
    x = tf.placeholder(dtype, [None, 5], name="x")
    y = tf.placeholder(dtype, [None, 3], name="y")
    w = tf.Variable(drawn(1, 5, 3, dtype=dtype), name="w")
    b = tf.Variable(np.zeros(3, dtype), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    return [w, b], loss, lambda step: {x: drawn(100 + step, 7, 5, dtype=dtype), y: drawn(200 + step, 7, 3, dtype=dtype)}


def _table(tf: Any, dtype: str) -> tuple[list[Any], Any, Feeds]:
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.Variable(drawn(2, 7, 3, dtype=dtype), name="table")
    loss = tf.reduce_sum(tf.square(tf.gather(table, ids) - tf.constant(0.25, dtype)))
    return [table], loss, lambda step: {ids: (drawn(300 + step, 5, low=0, high=6.999)).astype(np.int32)}


# --- update ops --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Update:
    """One update op: `op` without `Apply`, its variables, which start between this value and this + 1.5, scalars, attrs."""

    op: str
    refs: dict[str, float]
    scalars: dict[str, float]
    attrs: dict[str, Any] = field(default_factory=dict)
    kinds: tuple[str, ...] = ("Apply", "SparseApply")
    gradient: str = "grad"

    @property
    def key(self) -> str:
        return " ".join([self.op, *(f"{k}={v}" for k, v in {**self.scalars, **self.attrs}.items())])


_FTRL = {"lr": 0.1, "l1": 0.02, "l2": 0.03, "lr_power": -0.5}
_RMS = {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-3}
_ADAM = {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-3}

UPDATES = [
    Update("GradientDescent", {"var": -1}, {"alpha": 0.1}, kinds=("Apply",), gradient="delta"),
    Update("Momentum", {"var": -1, "accum": -1}, {"lr": 0.1, "momentum": 0.9}),
    Update("Momentum", {"var": -1, "accum": -1}, {"lr": 0.1, "momentum": 0.9}, {"use_nesterov": True}),
    Update("Adagrad", {"var": -1, "accum": 0.1}, {"lr": 0.1}),
    Update("Adagrad", {"var": -1, "accum": 0.1}, {"lr": 0.1}, {"update_slots": False}),
    Update("Adadelta", {"var": -1, "accum": 0, "accum_update": 0}, {"lr": 0.5, "rho": 0.9, "epsilon": 1e-3}),
    Update("RMSProp", {"var": -1, "ms": 0, "mom": -1}, _RMS),
    Update("CenteredRMSProp", {"var": -1, "mg": -0.75, "ms": 1, "mom": -1}, _RMS),
    Update("Adam", {"var": -1, "m": -1, "v": 0}, _ADAM, kinds=("Apply",)),
    Update("Adam", {"var": -1, "m": -1, "v": 0}, _ADAM, {"use_nesterov": True}, kinds=("Apply",)),
    Update("Ftrl", {"var": -1, "accum": 0.1, "linear": -1}, _FTRL),
    Update("Ftrl", {"var": -1, "accum": 0.1, "linear": -1}, {**_FTRL, "lr_power": -0.7}),
    Update("Ftrl", {"var": -1, "accum": 0.1, "linear": -1}, _FTRL, {"multiply_linear_by_lr": True}),
    Update("FtrlV2", {"var": -1, "accum": 0.1, "linear": -1}, {**_FTRL, "l2_shrinkage": 0.1}),
    Update(
        "FtrlV2", {"var": -1, "accum": 0.1, "linear": -1}, {**_FTRL, "l2_shrinkage": 0.1}, {"multiply_linear_by_lr": True}
    ),
    Update("ProximalGradientDescent", {"var": -1}, {"alpha": 0.1, "l1": 0.2, "l2": 0.3}, kinds=("Apply",), gradient="delta"),
    Update("ProximalGradientDescent", {"var": -1}, {"alpha": 0.1, "l1": 0.2, "l2": 0.3}, kinds=("SparseApply",)),
    Update("ProximalGradientDescent", {"var": -1}, {"alpha": 0.1, "l1": 0.0, "l2": 0.3}, kinds=("SparseApply",)),
    Update("ProximalAdagrad", {"var": -1, "accum": 0.1}, {"lr": 0.1, "l1": 0.2, "l2": 0.3}),
    Update("ProximalAdagrad", {"var": -1, "accum": 0.1}, {"lr": 0.1, "l1": 0.0, "l2": 0.3}),
    Update(
        "AdagradDA",
        {"var": -1, "gradient_accumulator": -1, "gradient_squared_accumulator": 0.1},
        {"lr": 0.1, "l1": 0.05, "l2": 0.03, "global_step": 3},
    ),
    Update(
        "AdagradDA",
        {"var": -1, "gradient_accumulator": -1, "gradient_squared_accumulator": 0.1},
        {"lr": 0.1, "l1": 0.0, "l2": 0.03, "global_step": 3},
    ),
]

UPDATE_ROWS = [(update, kind, dtype) for update in UPDATES for kind in update.kinds for dtype in DTYPES]


def applications(tf: Any, build: Callable[..., Any], update: Update, kind: str, dtype: str) -> dict[str, Array]:
    """The variables after each of APPLICATIONS runs of the op. `build(op, inputs by name, attrs)` makes its node."""
    # TensorFlow's sparse kernels go through repeated rows one by one.
    indices = np.array([1, 4, 1, 0, 1], np.int64)
    with tf.Graph().as_default(), tf.Session() as session:
        grad = tf.placeholder(dtype, [5, 3], name="grad")
        variables = {
            name: tf.Variable(drawn(10 + i, 5, 3, dtype=dtype, low=low, high=low + 1.5), name=name)
            for i, (name, low) in enumerate(update.refs.items())
        }
        scalars = {
            name: tf.constant(value, tf.int64 if name == "global_step" else dtype) for name, value in update.scalars.items()
        }
        inputs = {**variables, **scalars, update.gradient: grad}
        if kind == "SparseApply":
            inputs["indices"] = tf.constant(indices)
        node = build(kind + update.op, inputs, update.attrs)
        session.run(tf.global_variables_initializer())
        seen = []
        for i in range(APPLICATIONS):
            session.run(node.op, {grad: drawn(50 + i, 5, 3, dtype=dtype)})
            seen.append(session.run(list(variables.values())))
        return {name: np.stack([row[i] for row in seen]) for i, name in enumerate(variables)}


# --- a model, saved half way ------------------------------------------------------------------------------------

MODEL = RECORDING.parent / "model-5"  # the checkpoint that TensorFlow wrote, with its MetaGraph
HALF = 5


def build_model(tf: Any) -> None:
    """A regression with a partitioned variable, trained by Adam at a decaying rate; nodes by name and in collections."""
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", initializer=tf.constant(drawn(3, 5, 3)))
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        parts = tf.get_variable("p", [5, 3], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w + parts) + b - y), name="loss")
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 3, 0.9)
    tf.train.AdamOptimizer(rate).minimize(loss, global_step=step, name="train")
    tf.add_to_collection("feeds", x)
    tf.add_to_collection("feeds", y)
    tf.global_variables_initializer()


def model_feeds(step: int) -> dict[str, Array]:
    return {"x:0": drawn(400 + step, 7, 5), "y:0": drawn(500 + step, 7, 3)}


def model_steps(tf: Any, session: Any, first: int, last: int) -> dict[str, Array]:
    """Trains from step `first` to `last`; every global variable by name."""
    for step in range(first, last):
        session.run("train", model_feeds(step))
    return {v.op.name: session.run(v) for v in tf.global_variables()}


def key(*parts: str) -> str:
    return "/".join(parts)
