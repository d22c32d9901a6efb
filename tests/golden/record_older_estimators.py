"""Records what TensorFlow 1.15's own estimators do: `python -m tests.golden.record_older_estimators`.

Run it from the repository's root with a Python 3.7 that has `tensorflow-cpu==1.15.*`, `protobuf<3.20` and `numpy<1.19`.
"""

from __future__ import annotations

import json
import tempfile

from tests.golden import oracle
from tests.golden.older_estimator_cases import CASES, RECORDING


def main() -> None:
    """Writes `estimators/older_estimators.json`: for each case what it gives."""
    tf = oracle.tensorflow()
    recorded = {}
    for name, run in CASES.items():
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
            recorded[name] = run(tf, folder)
    RECORDING.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    print(f"{len(recorded)} cases, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
