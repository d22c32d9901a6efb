"""What callbacks are told of a training before it starts. Source: TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.keras.callbacks.callback import CallbackList
from tfexp.keras.callbacks.history import BaseLogger
from tfexp.keras.callbacks.progress import ProgbarLogger


def set_callback_parameters(
    callback_list: CallbackList,
    model: Any,
    do_validation: bool = False,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps_per_epoch: int | None = None,
    samples: int | None = None,
    verbose: int = 1,
    mode: str = "train",
) -> None:
    """`params` of the callbacks; and which metrics are not to be averaged, for those that average.

    mode: 'train', 'test', or 'predict', which has no metrics.
    """
    names = [] if mode == "predict" else list(model.metrics_names)
    for callback in callback_list:
        if isinstance(callback, (BaseLogger, ProgbarLogger)):
            callback.stateful_metrics = set(names[1:])
    callback_list.set_params(
        {
            "batch_size": batch_size,
            "epochs": epochs,
            "steps": steps_per_epoch,
            "samples": samples,
            "verbose": verbose,
            "do_validation": do_validation,
            "metrics": names + [f"val_{name}" for name in names] if do_validation else names,
        }
    )
