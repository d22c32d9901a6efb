"""Records spatial.json with real TensorFlow (Keras 2.15 in graph mode): python -m tests.keras.layers.record_spatial.

Of each case: the configuration, the variables, the shapes, and the inner products of the output, of the input's gradient
and of each weight's with waves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.keras.layers.spatial_cases import BATCH, CASES, CONV_LSTM_CASES, REFUSED, wave

# What Keras got after 1.15.
LATER = {"groups", "keepdims"}


def plain(value: Any) -> Any:
    """A configuration as 1.15 has it, as far as JSON goes; an object within it by its class name."""
    if isinstance(value, dict) and "class_name" in value:
        return value["class_name"]
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return value


def short(value: Any) -> float:
    """Eight digits: more than the tests tell apart."""
    return float(f"{value:.8g}")


def lines(found: dict[str, Any]) -> list[str]:
    """A line for each case."""
    return [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in found.items()]


def record(layer_class: str, arguments: dict[str, Any], example: tuple[int, ...]) -> dict[str, Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        layer = getattr(tf.keras.layers, layer_class)(name="layer", **arguments)
        x = tf.placeholder(tf.float32, [BATCH, *example])
        y = layer(x)
        tf.keras.backend.set_session(session)
        layer.set_weights([wave(tuple(w.shape.as_list()), 0.7 + i) / 2 for i, w in enumerate(layer.weights)])
        out = wave(tuple(y.shape.as_list()), 1.3)
        grads = tf.gradients(tf.reduce_sum(y * out), [x, *layer.trainable_weights])
        value, slopes = session.run([y, grads], {x: wave((BATCH, *example), 0.9)})
        products = [short(np.vdot(g, wave(g.shape, 1.1))) for g in slopes]
        return {
            "config": {k: plain(v) for k, v in layer.get_config().items() if k not in LATER},
            "weights": [[w.name, w.shape.as_list()] for w in layer.weights],
            "output_shape": tf.TensorShape(layer.compute_output_shape((BATCH, *example))).as_list(),
            "ops": y.op.type,
            "value": short(np.vdot(value, out)),
            "slopes": products,
        }


def refusal(layer_class: str, arguments: dict[str, Any], example: tuple[int, ...] | None) -> list[str]:
    with tf.Graph().as_default():
        try:
            layer = getattr(tf.keras.layers, layer_class)(name="layer", **arguments)
            layer(tf.placeholder(tf.float32, [BATCH, *(example or ())]))
        except Exception as error:  # whatever it is, it is what is recorded
            return [type(error).__name__, str(error)]
    raise AssertionError(f"{layer_class} takes {arguments}")


if __name__ == "__main__":
    tf.disable_v2_behavior()
    every = CASES | CONV_LSTM_CASES
    recorded = {name: record(*case) for name, case in every.items()}
    refused = {name: refusal(*case) for name, case in REFUSED.items()}
    path = Path(__file__).parent / "spatial.json"
    rooms = {"cases": recorded, "refused": refused}
    texts = [f'"{room}": {{\n' + ",\n".join(lines(found)) + "\n}" for room, found in rooms.items()]
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n")
