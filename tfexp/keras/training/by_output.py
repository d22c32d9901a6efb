"""Arguments given for the outputs of a model, as one value, a list or a dictionary by name: a list, one entry per output.

Source: the arguments of `tf.keras.Model.compile` and `fit`, TF 1.15.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfexp.core import log
from tfexp.keras.metrics import clone_metrics
from tfexp.ops.check_types import is_tensor


def check_names(what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    """ValueError for a name that is none of the model's."""
    unknown = sorted(set(given) - set(names), key=str)
    if unknown:
        raise ValueError(f"Unknown entries in {what} dictionary: {unknown}. Only expected following keys: {list(names)}")


def losses_by_output(loss: Any, names: Sequence[str]) -> list[Any]:
    """The loss of each output; an output that a dictionary leaves out has none, which is a warning."""
    if isinstance(loss, Mapping):
        check_names("loss", loss, names)
        for name in names:
            if name not in loss:
                log.warn(
                    f"Output {name} missing from loss dictionary. We assume this was done on purpose. The fit and evaluate "
                    f"APIs will not be expecting any data to be passed to {name}."
                )
        return [loss.get(name) for name in names]
    if isinstance(loss, (list, tuple)):
        if len(loss) != len(names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The model has "
                f"{len(names)} outputs, but you passed loss={loss}"
            )
        return list(loss)
    return [loss] * len(names)


def loss_weights_by_output(weights: Any, names: Sequence[str]) -> list[Any]:
    """What each output's loss is multiplied by, 1 by default."""
    if weights is None:
        return [1.0] * len(names)
    if isinstance(weights, Mapping):
        check_names("loss_weights", weights, names)
        return [weights.get(name, 1.0) for name in names]
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(names):
            raise ValueError(
                "When passing a list as loss_weights, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed loss_weights={weights}"
            )
        return list(weights)
    raise TypeError(f"Could not interpret loss_weights argument: {weights} - expected a list of dicts.")


def metrics_by_output(metrics: Any, names: Sequence[str]) -> list[list[Any]]:
    """The metrics of each output: a flat list is for every output, a list with lists in it has one entry per output."""
    if not metrics:
        return [[] for _ in names]
    if isinstance(metrics, Mapping):
        check_names("metrics", metrics, names)
        return [_as_list(metrics.get(name, [])) for name in names]
    if not isinstance(metrics, list):
        raise TypeError(f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics}")
    if any(isinstance(metric, (list, tuple)) for metric in metrics):
        if len(metrics) != len(names):
            raise ValueError(
                "When passing a list of lists as `metrics`, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed metrics={metrics}"
            )
        return [_as_list(metric) for metric in metrics]
    # Each output counts with metrics of its own.
    return [list(metrics) if len(names) == 1 else clone_metrics(list(metrics)) for _ in names]


def modes_by_output(mode: Any, names: Sequence[str], with_loss: Sequence[bool]) -> list[str | None]:
    """Each output's `sample_weight_mode`: 'temporal', 'samplewise', or None for weights that are not announced.

    Raises ValueError for another one, and for an output with a loss that a dictionary leaves out.
    """
    if isinstance(mode, Mapping):
        check_names("sample_weight_mode", mode, names)
        missing = [name for name, has_loss in zip(names, with_loss, strict=True) if has_loss and name not in mode]
        if missing:
            raise ValueError(f"Output {missing[0]}missing from `_sample_weight_modes` dictionary")
        modes = [mode.get(name) for name in names]
    elif isinstance(mode, (list, tuple)):
        if len(mode) != len(names):
            raise ValueError(
                "When passing a list as sample_weight_mode, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed {len(mode)}_sample_weight_modes."
            )
        modes = list(mode)
    else:
        modes = [mode] * len(names)
    for one in modes:
        if one not in {None, "temporal", "samplewise"}:
            raise ValueError(f"sample_weight_mode must be None, 'temporal' or 'samplewise', got {one!r}")
    return modes


def targets_by_output(targets: Any, names: Sequence[str]) -> list[Any]:
    """The target tensor of each output; None where a placeholder is to be made."""
    if targets is None:
        return [None] * len(names)
    if isinstance(targets, Mapping):
        if unknown := set(targets) - set(names):
            raise ValueError(
                f'Unknown entry in `target_tensors` dictionary: "{unknown}". Only expected the following keys: {list(names)}'
            )
        return [targets.get(name) for name in names]
    if isinstance(targets, (list, tuple)):
        if targets and len(targets) != len(names):
            raise ValueError(
                "When passing a list as `target_tensors`, it should have one entry per model output. The model has "
                f"{len(names)} outputs, but you passed target_tensors={targets}"
            )
        return list(targets) or [None] * len(names)
    if is_tensor(targets):
        return targets_by_output([targets], names)
    raise TypeError("Expected `target_tensors` to be a list or dict, but got:", targets)


def weights_by_output(weights: Any, names: Sequence[str], what: str) -> list[Any]:
    """The `sample_weight` or `class_weight` of each output; None where there is none."""
    if weights is None or (isinstance(weights, (list, tuple, Mapping)) and not weights):
        return [None] * len(names)
    if len(names) == 1:
        if isinstance(weights, (list, tuple)) and len(weights) == 1:
            return list(weights)
        if isinstance(weights, Mapping) and names[0] in weights:
            return [weights[names[0]]]
        return [weights]
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(names):
            raise ValueError(
                f"Provided `{what}` was a list of {len(weights)} elements, but the model has {len(names)} outputs. You "
                f"should provide one `{what}` array per model output."
            )
        return list(weights)
    if isinstance(weights, Mapping):
        check_names(what, weights, names)
        return [weights.get(name) for name in names]
    raise TypeError(
        f"The model has multiple outputs, so `{what}` should be either a list or a dict. Provided `{what}` type not "
        f"understood: {weights}"
    )


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]
