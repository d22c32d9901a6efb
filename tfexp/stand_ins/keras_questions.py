"""What private modules of Keras ask about losses and layers, and change in weights. Source: TF 1.15.

`losses`, `utils.layer_utils` and `utils.vis_utils` of `tensorflow.python.keras`.
"""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.keras.engine.network import Network
from tfexp.keras.layers.wrappers import Wrapper
from tfexp.keras.losses import CategoricalCrossentropy, categorical_crossentropy
from tfexp.keras.losses.loss import LossFunctionWrapper


def is_categorical_crossentropy(loss: Any) -> bool:
    """Whether a loss is of targets that say a number for each class: by name, as a function or an object."""
    if isinstance(loss, LossFunctionWrapper):
        return isinstance(loss, CategoricalCrossentropy) or loss.fn is categorical_crossentropy
    return loss in ("categorical_crossentropy", categorical_crossentropy)


def convert_dense_weights_data_format(
    dense: Any, previous_feature_map_shape: Sequence[int], target_data_format: str = "channels_first"
) -> None:
    """Order the weights of a layer anew that follows a flattened image, whose channels are to move.

    previous_feature_map_shape: of the image before, without the batch. AssertionError for an unknown format.
    """
    orders = {"channels_first": (2, 0, 1), "channels_last": (1, 2, 0)}
    if target_data_format not in orders:
        raise AssertionError(f"target_data_format must be one of {sorted(orders)}, not {target_data_format!r}")
    kernel, bias = dense.get_weights()
    images = np.reshape(kernel, (*previous_feature_map_shape, -1))
    moved = np.transpose(images, (*orders[target_data_format], 3))
    dense.set_weights([np.reshape(moved, kernel.shape), bias])


def is_wrapped_model(layer: Any) -> bool:
    """Whether a layer applies a model, as a TimeDistributed may."""
    return isinstance(layer, Wrapper) and isinstance(layer.layer, Network)


def check_pydot() -> bool:
    """Whether models can be drawn: with pydot, and the program of Graphviz."""
    return importlib.util.find_spec("pydot") is not None and shutil.which("dot") is not None
