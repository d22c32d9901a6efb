"""Records applications.json with real TensorFlow 1.15: python -m tests.keras.applications.record_applications.

Of each network with its top: digests of its layers and of its variables. Of those in `SMALL`, without top, for small images:
the inner product of the pooled features with a wave, with the same weights on both sides.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

from tests.keras.applications.application_cases import NETWORKS, SMALL, digest, features_of, layers_of, variables_of


def record(name: str) -> dict[str, Any]:
    with tf.Graph().as_default():
        model = getattr(tf.keras.applications, name)(weights=None)
        return {
            "name": model.name,
            "layers": len(model.layers),
            "layer_digest": digest(layers_of(model)),
            "variable_digest": digest(variables_of(model)),
            "parameters": model.count_params(),
        }


def record_features(name: str) -> float:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.keras.backend.set_session(session)
        return features_of(tf, getattr(tf.keras.applications, name), SMALL[name])


if __name__ == "__main__":
    tf.disable_v2_behavior()
    recorded = {name: record(name) for name in NETWORKS}
    features = {name: record_features(name) for name in SMALL}
    path = Path(__file__).parent / "applications.json"
    path.write_text(json.dumps({"networks": recorded, "features": features}, indent=1) + "\n")
