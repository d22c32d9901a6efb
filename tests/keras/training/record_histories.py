"""Writes what the programs give: `histories.json` by TensorFlow 2.15, whose v1 mode trains as TensorFlow 1.15 does, and
`eager_histories.json`, for the programs that eager execution has other numbers for, by TensorFlow 1.15 itself.

python tests/keras/training/record_histories.py [eagerly]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import tensorflow.compat.v1 as tf
from programs_of_histories import PROGRAMS

EAGERLY = sys.argv[1:] == ["eagerly"]
if EAGERLY:
    tf.enable_eager_execution()
else:
    tf.disable_v2_behavior()


def main() -> None:
    found = {}
    for name in ("shuffled", "shuffled_by_batches", "datasets") if EAGERLY else PROGRAMS:
        tf.keras.backend.clear_session()
        found[name] = PROGRAMS[name](tf)
    text = json.dumps(found, separators=(",", ":")).replace('],"', '],\n"').replace('},"', '},\n"')
    Path(__file__).with_name("eager_histories.json" if EAGERLY else "histories.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
