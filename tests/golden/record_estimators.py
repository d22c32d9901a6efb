"""Records what TensorFlow's estimators do: `python -m tests.golden.record_estimators`.

Run it from the repository's root with a Python that has TensorFlow 2.15 (`tensorflow-cpu==2.15.*`), used through
`compat.v1`: later ones have no estimators.
"""

from __future__ import annotations

import json
import tempfile

from tests.golden import oracle
from tests.golden.estimator_cases import CASES, RECORDING, outcome


def main() -> None:
    """Writes `estimators/estimators.json`: for each case variables, metrics, predictions, tags, signatures."""
    tf = oracle.tensorflow()
    tf.logging.set_verbosity(tf.logging.ERROR)
    RECORDING.parent.mkdir(exist_ok=True)
    recorded = {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
            recorded[name] = outcome(tf, case, folder)
    RECORDING.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    print(f"{len(recorded)} cases, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
