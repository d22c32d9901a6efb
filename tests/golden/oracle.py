"""Real TensorFlow as the oracle: `tensorflow.compat.v1` with TF1's behaviour, quiet and reproducible."""

from __future__ import annotations

import importlib
import importlib.util
import os
import warnings
from typing import Any


def is_installed() -> bool:
    """Whether TensorFlow can be imported here."""
    return importlib.util.find_spec("tensorflow") is not None


def has(group: str) -> bool:
    """Whether TensorFlow can run the programs of that group: `tf.layers` and cells are in tf_keras since 2.16."""
    return group not in ("layers", "rnn") or importlib.util.find_spec("tf_keras") is not None


def tensorflow() -> Any:
    """The `tf` module of TensorFlow 1.x behaviour. Its kernels are told to sum in one fixed order."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    if importlib.util.find_spec("tf_keras") is not None:
        os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what importing TensorFlow has to say about itself is not our concern
        tf = importlib.import_module("tensorflow.compat.v1")
    tf.logging.set_verbosity(tf.logging.ERROR)
    tf.disable_v2_behavior()
    return tf
