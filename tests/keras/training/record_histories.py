"""Writes `histories.json`: what the programs give under TensorFlow 2.15, whose v1 mode trains as TensorFlow 1.15 does.

python tests/keras/training/record_histories.py
"""

from __future__ import annotations

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from programs_of_histories import PROGRAMS

tf.disable_v2_behavior()


def main() -> None:
    found = {}
    for name, program in PROGRAMS.items():
        tf.keras.backend.clear_session()
        found[name] = program(tf)
    text = json.dumps(found, separators=(",", ":")).replace('],"', '],\n"').replace('},"', '},\n"')
    Path(__file__).with_name("histories.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
