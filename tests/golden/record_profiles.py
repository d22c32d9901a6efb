"""Records what TensorFlow's profiler tells: `python -m tests.golden.record_profiles`.

Run it from the repository's root with a Python that has TensorFlow.
"""

from __future__ import annotations

import json

from tests.golden import oracle
from tests.golden.profile_cases import RECORDING, float_operations, profiles, steps


def main() -> None:
    """Writes `profiles/profiles.json`."""
    tf = oracle.tensorflow()
    RECORDING.parent.mkdir(exist_ok=True)
    recorded = {"profiles": profiles(tf), "steps": steps(tf), "float operations": float_operations(tf)}
    RECORDING.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    print(f"{len(recorded['profiles'])} options, {RECORDING.stat().st_size} bytes")


if __name__ == "__main__":
    main()
