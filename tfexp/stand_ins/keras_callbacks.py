"""`tensorflow.python.keras.callbacks`: callbacks for training loops of programs' own. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from tfexp.keras.callbacks.callback import CallbackList
from tfexp.keras.callbacks.history import BaseLogger, History
from tfexp.keras.callbacks.parameters import set_callback_parameters
from tfexp.keras.callbacks.progress import ProgbarLogger


def configure_callbacks(
    callbacks: Iterable[Any] | CallbackList | None,
    model: Any,
    do_validation: bool = False,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps_per_epoch: int | None = None,
    samples: int | None = None,
    verbose: int = 1,
    count_mode: str = "steps",
    mode: str = "train",
) -> CallbackList:
    """The callbacks of a run, told of it and of the model. A CallbackList stays as it is.

    For training there are besides what averages, the model's history, and with `verbose` what shows the progress.
    """
    if isinstance(callbacks, CallbackList):
        return callbacks
    called = list(callbacks or ())
    if mode == "train":
        model.history = History()
        called = [BaseLogger(), *called, model.history, *([ProgbarLogger(count_mode)] if verbose else [])]
    found = CallbackList(called)
    found.set_model(model)
    set_callback_parameters(
        found, model, do_validation, batch_size, epochs, steps_per_epoch, samples, verbose=verbose, mode=mode
    )
    model.stop_training = False
    return found


def make_logs(model: Any, logs: dict[str, Any], outputs: Sequence[Any], mode: str, prefix: str = "") -> dict[str, Any]:
    """`logs`, into which the results of a step have come: by the model's names, or as they are where it predicts."""
    if mode == "predict":
        logs["outputs"] = outputs
    else:
        logs.update(zip((f"{prefix}{name}" for name in model.metrics_names), outputs, strict=False))
    return logs
