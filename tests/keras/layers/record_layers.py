"""Write `layers.json`: what TensorFlow makes of `layer_cases`. Run it with a Python that has TensorFlow 2.15 (Keras 2)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from layer_cases import CASES, observed


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    return value


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main() -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    found = {}
    for name in CASES:
        seen = _plain(observed(tf, tf.keras, name))
        found[name] = {key: value if key == "config" else _rounded(value) for key, value in seen.items()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(found.items()))
    (Path(__file__).parent / "layers.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    main()
