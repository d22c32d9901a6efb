"""Weights of samples: those given, and those of their classes. Source: `sample_weight`, `class_weight` of `fit`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tfexp.keras import backend
from tfexp.keras.training.arrays import dense_floats, is_symbolic
from tfexp.keras.training.by_output import weights_by_output
from tfexp.keras.training.outputs import Output


def weights_of(targets: Sequence[Any], outputs: Sequence[Output], sample_weight: Any, class_weight: Any) -> list[Any]:
    """For each output with a loss the weights of its samples; None where all weigh the same.

    An output whose `sample_weight_mode` was announced has weights always: ones, if none are given.
    """
    names = [output.name for output in outputs]
    given = weights_by_output(sample_weight, names, "sample_weight")
    classes = weights_by_output(class_weight, names, "class_weight")
    modes = [output.weight_mode for output in outputs]
    return [combined_weights(*one) for one in zip(targets, given, classes, modes, strict=True)]


def combined_weights(y: Any, sample_weight: Any = None, class_weight: Any = None, sample_weight_mode: Any = None) -> Any:
    """The weights of the samples of one output; None where all weigh the same. Only a dictionary weighs classes."""
    given = sample_weight
    if given is not None and not is_symbolic(given):
        given = dense_floats(given)
        _check(given, y, sample_weight_mode)
    by_class = _class_weights(y, class_weight) if isinstance(class_weight, Mapping) and y is not None else None
    if given is None and by_class is None:
        if sample_weight_mode is None or y is None:
            return None
        if sample_weight_mode == "temporal":
            _check_has_steps(y)
        return np.ones(y.shape[: 2 if sample_weight_mode == "temporal" else 1], backend.floatx())
    if given is None or by_class is None:
        return by_class if given is None else given
    return given * (by_class if given.ndim == 1 else by_class[:, np.newaxis])


def _check(weights: np.ndarray[Any, Any], target: Any, mode: str | None) -> None:
    """ValueError for weights that are not one for each sample or, where announced, one for each time step."""
    if mode == "temporal":
        if target is not None:
            _check_has_steps(target)
        if weights.ndim != 2:
            raise ValueError(
                f"Found a sample_weight array with shape {weights.shape}. In order to use timestep-wise sample weighting, "
                "you should pass a 2D sample_weight array."
            )
    elif weights.ndim != 1:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape}. In order to use timestep-wise sample weights, you "
            f'should specify sample_weight_mode="temporal" in compile(). If you just mean to use sample-wise weights, make '
            f'sure your sample_weight array is 1D. The mode is "{mode}".'
        )
    if target is None or is_symbolic(target):
        return
    if len(weights.shape) > len(target.shape) or tuple(target.shape[: weights.ndim]) != weights.shape:
        raise ValueError(
            f"Found a sample_weight array with shape {weights.shape} for an input with shape {tuple(target.shape)}. "
            "sample_weight cannot be broadcast."
        )


def _check_has_steps(target: Any) -> None:
    if len(target.shape) < 3:
        raise ValueError(
            f"Found a sample_weight array for an input with shape {tuple(target.shape)}. Timestep-wise sample weighting "
            '(use of sample_weight_mode="temporal") is restricted to outputs that are at least 3D, i.e. that have a '
            "time dimension."
        )


def _class_weights(target: Any, weights: Mapping[int, Any]) -> np.ndarray[Any, Any]:
    """The weight of each sample's class: the target's number, or the place of its largest entry."""
    if target.ndim > 2:
        raise ValueError("`class_weight` not supported for 3+ dimensional targets.")
    numbers = target.argmax(axis=1) if target.ndim == 2 and target.shape[1] > 1 else target.reshape(-1)
    classes, places = np.unique(numbers, return_inverse=True)
    missing = {int(number) for number in classes} - set(weights)
    if missing:
        raise ValueError(
            f"`class_weight` must contain all classes in the data. The classes {missing} exist in the data but not in "
            "`class_weight`."
        )
    return dense_floats([weights[int(number)] for number in classes])[places.reshape(-1)]
