"""Writes `expected.json`: what TensorFlow 2.15's Keras (graph mode) says to `cases.py`. Run with its interpreter:

TF_CPP_MIN_LOG_LEVEL=3 python tests/keras/backend/record.py
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import cases  # noqa: E402


def _rounded(value: Any) -> Any:
    array = np.asarray(value)
    return [float(f"{number:.7g}") for number in array.ravel()] if array.dtype.kind == "f" else array.ravel().tolist()


def main() -> None:
    tf.disable_v2_behavior()
    K = tf.keras.backend
    expected: dict[str, Any] = {"values": {}, "shapes": {}, "errors": {}}
    for name, case in cases.VALUES.items():
        results = case(K, cases.Numbers(K))
        values = [K.get_value(x) for x in (results if isinstance(results, list) else [results])]
        expected["values"][name] = [[str(v.dtype), list(v.shape), _rounded(v)] for v in map(np.asarray, values)]
    for name, case in cases.SHAPES.items():
        expected["shapes"][name] = case(K, cases.Numbers(K)).shape.as_list()
    for name, case in cases.ERRORS.items():
        try:
            case(K, cases.Numbers(K))
        except Exception as error:
            expected["errors"][name] = [type(error).__name__, str(error)]
    lines = [
        f'  "{kind}": {{\n' + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items()) + "\n  }"
        for kind, entries in expected.items()
    ]
    (HERE / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
