"""Records how TensorFlow trains: `python -m tests.golden.record_training`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden import oracle
from tests.golden.training_cases import (
    HALF,
    MODEL,
    RECORDING,
    TRAJECTORIES,
    UPDATE_ROWS,
    applications,
    build_model,
    key,
    model_steps,
    trajectory,
)


def main() -> None:
    """Writes `training/trajectories.npz`, an array per variable and case, and a checkpoint of a model half way."""
    tf = oracle.tensorflow()
    RECORDING.parent.mkdir(exist_ok=True)

    def build(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
        return tf.raw_ops.__dict__[op](**inputs, **attrs)

    arrays: dict[str, Any] = {}
    for optimizer, kind, dtype in TRAJECTORIES:
        for name, values in trajectory(tf, optimizer, kind, dtype).items():
            arrays[key(optimizer, kind, dtype, name)] = values
    for update, kind, dtype in UPDATE_ROWS:
        for name, values in applications(tf, build, update, kind, dtype).items():
            arrays[key(update.key, kind, dtype, name)] = values
    with tf.Graph().as_default(), tf.Session() as session:
        build_model(tf)
        saver = tf.train.Saver()
        session.run("init")
        model_steps(tf, session, 0, HALF)
        saver.save(session, str(MODEL).removesuffix(f"-{HALF}"), global_step=tf.train.get_global_step())
        (RECORDING.parent / "checkpoint").unlink()  # it holds this machine's paths
        for name, values in model_steps(tf, session, HALF, 2 * HALF).items():
            arrays[key("model", name)] = values
    np.savez_compressed(RECORDING, **arrays)
    print(f"{len(arrays)} arrays, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
