"""Five steps of each Keras optimizer with each of its options, for TensorFlow and for tfexp alike: `tf` is either.

`python -m tests.keras.optimizers.optimizer_cases`, from the repository's root with a Python that has TensorFlow 2.15 (used
through `compat.v1`), records what TensorFlow's do.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.golden.training_cases import drawn

RECORDING = Path(__file__).parent / "trajectories.json"
STEPS = 5

OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"learning_rate": 0.1},
        {"learning_rate": 0.1, "decay": 0.5},
        {"learning_rate": 0.1, "momentum": 0.9},
        {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
        {"lr": 0.1, "clipnorm": 0.3},
        {"lr": 0.1, "clipvalue": 0.1},
    ],
    "RMSprop": [
        {"learning_rate": 0.05},
        {"learning_rate": 0.05, "rho": 0.7, "epsilon": 0.01, "decay": 0.1},
        {"learning_rate": 0.05, "momentum": 0.5},
        {"learning_rate": 0.05, "centered": True, "epsilon": 0.01},
        {"learning_rate": 0.05, "centered": True, "momentum": 0.5, "epsilon": 0.01},
    ],
    "Adagrad": [{"learning_rate": 0.1}, {"learning_rate": 0.1, "initial_accumulator_value": 0.0, "epsilon": 0.1}],
    "Adadelta": [{"learning_rate": 1.0, "rho": 0.8}, {"learning_rate": 1.0, "epsilon": 0.01, "decay": 0.1}],
    "Adam": [
        {"learning_rate": 0.1},
        {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.7, "epsilon": 0.01, "decay": 0.3},
        {"learning_rate": 0.1, "amsgrad": True, "beta_2": 0.5},
    ],
    "Adamax": [{"learning_rate": 0.1}, {"learning_rate": 0.1, "beta_1": 0.5, "beta_2": 0.7, "epsilon": 0.01}],
    "Nadam": [{"learning_rate": 0.1}, {"learning_rate": 0.1, "beta_1": 0.5, "schedule_decay": 0.1, "epsilon": 0.01}],
    "Ftrl": [
        {"learning_rate": 0.1},
        {"learning_rate": 0.1, "l1_regularization_strength": 0.02, "l2_regularization_strength": 0.03},
        {"learning_rate": 0.1, "learning_rate_power": -0.7, "initial_accumulator_value": 0.5},
        {"learning_rate": 0.1, "l2_shrinkage_regularization_strength": 0.1, "l1_regularization_strength": 0.02},
    ],
}

CASES = [(name, options) for name, group in OPTIONS.items() for options in group]


def key(name: str, options: dict[str, Any], kind: str) -> str:
    return f"{name} {kind} {json.dumps(options)}"


def trajectories(tf: Any, name: str, options: dict[str, Any]) -> dict[str, list[list[float]]]:
    """Two variables after each step, flat. That of `sparse` has gradients for some rows, for some of these twice."""
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {kind: tf.Variable(drawn(1, 3, 2), name=kind, use_resource=True) for kind in ("dense", "sparse")}
        target = tf.placeholder(tf.float32, [3, 2])
        rows = tf.placeholder(tf.int32, [None])
        loss = tf.reduce_sum(tf.square(variables["dense"] - target))
        loss += tf.reduce_sum(tf.square(tf.gather(variables["sparse"], rows) - tf.gather(target, rows)))
        optimizer = getattr(tf.keras.optimizers, name)(**options)
        (step,) = optimizer.get_updates(loss, list(variables.values()))
        session.run(tf.global_variables_initializer())
        seen: dict[str, list[list[float]]] = {kind: [] for kind in variables}
        for i in range(STEPS):
            chosen = drawn(20 + i, 3, low=0, high=2.999).astype("int32")
            session.run(step, {target: drawn(10 + i, 3, 2), rows: chosen})
            for kind, values in session.run(variables).items():
                seen[kind].append([float(value) for value in values.ravel()])
        return seen


SCHEDULES: dict[str, list[dict[str, Any]]] = {
    "ExponentialDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5},
        {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5, "staircase": True},
    ],
    "InverseTimeDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5},
        {"initial_learning_rate": 0.1, "decay_steps": 3, "decay_rate": 0.5, "staircase": True},
    ],
    "PiecewiseConstantDecay": [{"boundaries": [2, 4], "values": [0.5, 0.25, 0.1]}],
    "PolynomialDecay": [
        {"initial_learning_rate": 0.1, "decay_steps": 3},
        {"initial_learning_rate": 0.1, "decay_steps": 3, "end_learning_rate": 0.01, "power": 2.0, "cycle": True},
    ],
    "CosineDecay": [{"initial_learning_rate": 0.1, "decay_steps": 4, "alpha": 0.1}],
    "CosineDecayRestarts": [
        {"initial_learning_rate": 0.1, "first_decay_steps": 2, "m_mul": 0.5, "alpha": 0.1},
        {"initial_learning_rate": 0.1, "first_decay_steps": 2, "t_mul": 1.0},
    ],
}
SCHEDULE_STEPS = 7


def rates(tf: Any, namespace: Any, name: str, options: dict[str, Any]) -> list[float]:
    """The rates of the first steps."""
    with tf.Graph().as_default(), tf.Session() as session:
        schedule = getattr(namespace, name)(**options)
        step = tf.placeholder(tf.float32, [])
        rate = schedule(step)
        return [float(session.run(rate, {step: i})) for i in range(SCHEDULE_STEPS)]


def _short(values: Any) -> Any:
    """Eight digits of each: more than the tests tell apart."""
    return [_short(one) for one in values] if isinstance(values, list) else float(f"{values:.8g}")


def main() -> None:
    import tensorflow.compat.v1 as tf  # type: ignore[import-not-found]

    tf.disable_v2_behavior()
    recorded: dict[str, Any] = {}
    for case in CASES:
        recorded |= {key(*case, kind): values for kind, values in trajectories(tf, *case).items()}
    namespace = tf.keras.optimizers.schedules
    for name, group in SCHEDULES.items():
        for options in group:
            recorded[key(name, options, "rates")] = rates(tf, namespace, name, options)
    lines = [f"{json.dumps(name)}: {json.dumps(_short(values))}" for name, values in recorded.items()]
    RECORDING.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
