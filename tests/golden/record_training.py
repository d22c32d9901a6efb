"""Records how TensorFlow trains: `python -m tests.golden.record_training`.

Run it from the repository's root with a Python that has `tensorflow` (2.x, used through `compat.v1`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.golden import oracle
from tests.golden.training_cases import RECORDING, TRAJECTORIES, UPDATE_ROWS, applications, key, trajectory


def main() -> None:
    """Writes `training/trajectories.npz`: an array per variable and case."""
    tf = oracle.tensorflow()

    def build(op: str, inputs: dict[str, Any], attrs: dict[str, Any]) -> Any:
        return tf.raw_ops.__dict__[op](**inputs, **attrs)

    arrays: dict[str, Any] = {}
    for optimizer, kind, dtype in TRAJECTORIES:
        for name, values in trajectory(tf, optimizer, kind, dtype).items():
            arrays[key(optimizer, kind, dtype, name)] = values
    for update, kind, dtype in UPDATE_ROWS:
        for name, values in applications(tf, build, update, kind, dtype).items():
            arrays[key(update.key, kind, dtype, name)] = values
    RECORDING.parent.mkdir(exist_ok=True)
    np.savez_compressed(RECORDING, **arrays)
    print(f"{len(arrays)} arrays, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
