"""Write `recurrent.json`: what TensorFlow makes of `recurrent_cases`. Run it with a Python that has TensorFlow 2.15."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from recurrent_cases import CASES, TRAINED, observed, trained


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return [list(value.shape), [float(f"{one:.6g}") for one in value.ravel().tolist()]]
    if isinstance(value, np.generic):
        return float(f"{value.item():.6g}")
    return value


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {name: _plain(observed(tf, tf.keras, name)) for name in CASES}
    found |= {f"trained {name}": _plain(trained(tf, tf.keras, name)) for name in TRAINED}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items()))
    (Path(__file__).parent / "recurrent.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
