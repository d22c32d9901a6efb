"""The loop over epochs and batches behind `fit`, `evaluate` and `predict`, which calls the callbacks. Source: TF 1.15."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfexp.core import log
from tfexp.graph.scopes import executing_eagerly
from tfexp.keras.callbacks.callback import CallbackList
from tfexp.keras.callbacks.history import BaseLogger, History
from tfexp.keras.callbacks.parameters import set_callback_parameters
from tfexp.keras.callbacks.progress import ProgbarLogger
from tfexp.keras.training.batches import Batches, OutOfBatchesError
from tfexp.keras.training.joined import joined
from tfexp.keras.training.steps import PREDICT, TEST, TRAIN

_EMPTY = "Empty training data."


@dataclass
class Validation:
    """Batches to test on after the epochs that `freq` says: each so many, or those listed, counted from 1."""

    batches: Batches
    freq: int | Collection[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.freq, int) and self.freq < 1:
            raise ValueError("`validation_freq` can not be less than 1.")
        if not isinstance(self.freq, (int, Collection)) or isinstance(self.freq, str):
            raise ValueError(
                "`validation_freq` must be an Integer or `collections.abc.Container` (e.g. list, tuple, etc.), got "
                f"{self.freq!r}"
            )

    def is_due(self, epoch: int) -> bool:
        return (epoch + 1) % self.freq == 0 if isinstance(self.freq, int) else epoch + 1 in self.freq


def fit(
    model: Any,
    batches: Batches,
    epochs: int,
    initial_epoch: int,
    verbose: int,
    callbacks: Sequence[Any] | None,
    validation: Validation | None,
) -> History:
    """Train for the epochs, or until a callback has set `stop_training`. Whatever happens, the data's threads end."""
    model.history = History()
    called = CallbackList([BaseLogger(), *(callbacks or ()), model.history])
    progress = _join(model, called, TRAIN, batches, epochs, verbose, validation is not None)
    if verbose:
        _announce(batches, validation)
    with contextlib.ExitStack() as stack:
        stack.callback(batches.close)
        if validation is not None:
            stack.callback(validation.batches.close)
        model.stop_training = False
        called.on_train_begin()
        progress.on_train_begin()
        for epoch in range(initial_epoch, epochs):
            if model.stop_training:
                break
            model.reset_metrics()
            logs: dict[str, Any] = {}
            called.on_epoch_begin(epoch, logs)
            progress.on_epoch_begin(epoch, logs)
            _train(model, batches, epochs, called, progress, logs)
            if epoch == initial_epoch and not logs:
                raise ValueError(_EMPTY)
            called.params.update(steps=batches.steps, samples=batches.samples)  # known by now
            if validation is not None and validation.is_due(epoch) and not model.stop_training:
                found = checked(model, validation.batches, called)
                logs.update(zip((f"val_{name}" for name in model.metrics_names), found, strict=False))
            called.on_epoch_end(epoch, logs)
            progress.on_epoch_end(epoch, logs)
        called.on_train_end()
    history: History = model.history
    return history


def _train(
    model: Any, batches: Batches, epochs: int, called: CallbackList, progress: ProgbarLogger, logs: dict[str, Any]
) -> None:
    """One epoch, whose numbers come into `logs`."""
    names = model.metrics_names
    mean = _Mean(batches.mean_over_samples)
    try:
        for number, batch in enumerate(batches.epoch()):
            batch_logs: dict[str, Any] = {"batch": number, "size": batch.size}
            called.on_train_batch_begin(number, batch_logs)
            results = model._train_step(batch)
            mean.add(results, batch.size)
            batch_logs.update(zip(names, results, strict=False))
            called.on_train_batch_end(number, batch_logs)
            progress.on_batch_end(number, batch_logs)
            if model.stop_training:
                break
    except OutOfBatchesError as error:
        _end_early(model, error, "training", "steps_per_epoch * epochs", (batches.steps or 0) * epochs)
    logs.update(zip(names, mean.results, strict=False))


def evaluate(model: Any, batches: Batches, verbose: int, callbacks: Sequence[Any] | None) -> list[Any]:
    """The loss and the metrics over all batches."""
    called = callbacks if isinstance(callbacks, CallbackList) else CallbackList(callbacks)
    progress = _join(model, called, TEST, batches, 1, verbose)
    with contextlib.ExitStack() as stack:
        stack.callback(batches.close)
        return checked(model, batches, called, progress)


def checked(model: Any, batches: Batches, called: CallbackList, progress: ProgbarLogger | None = None) -> list[Any]:
    """One pass over the batches, in a `fit` or alone."""
    names = model.metrics_names
    mean = _Mean(batches.mean_over_samples)
    model.reset_metrics()
    batches.restart()
    called.on_test_begin()
    if progress is not None:
        progress.on_train_begin()
        progress.on_epoch_begin(0)
    try:
        for number, batch in enumerate(batches.epoch()):
            logs: dict[str, Any] = {"batch": number, "size": batch.size}
            called.on_test_batch_begin(number, logs)
            results = model._test_step(batch)
            mean.add(results, batch.size)
            logs.update(zip(names, results, strict=False))
            called.on_test_batch_end(number, logs)
            if progress is not None:
                progress.on_batch_end(number, logs)
    except OutOfBatchesError as error:
        _end_early(model, error, "evaluation", "steps", batches.steps or 0)
    if not mean.results:
        raise ValueError(_EMPTY)
    if progress is not None:
        progress.on_epoch_end(0, dict(zip(names, mean.results, strict=False)))
    called.on_test_end()
    return mean.results


def predict(model: Any, batches: Batches, verbose: int, callbacks: Sequence[Any] | None) -> list[np.ndarray[Any, Any]]:
    """The predictions of all batches, one array for each output."""
    called = CallbackList(callbacks)
    progress = _join(model, called, PREDICT, batches, 1, verbose)
    parts: list[list[Any]] = []
    with contextlib.ExitStack() as stack:
        stack.callback(batches.close)
        called.on_predict_begin()
        progress.on_train_begin()
        progress.on_epoch_begin(0)
        try:
            for number, batch in enumerate(batches.epoch()):
                logs: dict[str, Any] = {"batch": number, "size": batch.size}
                called.on_predict_batch_begin(number, logs)
                parts.append(model._predict_step(batch))
                logs["outputs"] = parts[-1]
                called.on_predict_batch_end(number, logs)
                progress.on_batch_end(number, logs)
        except OutOfBatchesError as error:
            _end_early(model, error, "prediction", "steps", batches.steps or 0)
        if not parts:
            raise ValueError("Empty data: there is nothing to predict from.")
        progress.on_epoch_end(0)
        called.on_predict_end()
    return [joined(one) for one in zip(*parts, strict=True)]


class _Mean:
    """The loss averaged over samples, or over steps; of the metrics, which are totals already, the last values."""

    def __init__(self, over_samples: bool):
        self._over_samples = over_samples
        self._sum: Any = 0.0  # an array where the loss is not reduced
        self._weight = 0
        self._last: Sequence[Any] = ()

    def add(self, results: Sequence[Any], size: int) -> None:
        weight = size if self._over_samples else 1
        self._sum += (results[0] if np.ndim(results[0]) else float(results[0])) * weight
        self._weight += weight
        self._last = results

    @property
    def results(self) -> list[Any]:
        if not self._weight:
            return []
        loss = self._sum / self._weight
        return [loss if np.ndim(loss) else np.float64(loss), *self._last[1:]]


def _join(
    model: Any, called: CallbackList, mode: str, batches: Batches, epochs: int, verbose: int, do_validation: bool = False
) -> ProgbarLogger:
    """Tell the callbacks what is to come, and what shows the progress, which comes after them all."""
    set_callback_parameters(
        called,
        model,
        do_validation,
        batch_size=batches.batch_size,
        epochs=epochs,
        steps_per_epoch=batches.steps,
        samples=batches.samples,
        verbose=verbose,
        mode=mode,
    )
    called.set_model(model)
    progress = ProgbarLogger("samples" if batches.by_sample else "steps", [] if mode == PREDICT else model.metrics_names[1:])
    progress.set_params(called.params)
    return progress


def _announce(batches: Batches, validation: Validation | None) -> None:
    """What is trained on, and what tested on."""
    if batches.announced is None:
        return
    tested = None if validation is None else validation.batches
    if executing_eagerly():
        end = "" if tested is None or tested.announced is None else f", validate {_amount(tested)}"
        print(f"Train {_amount(batches)}{end}")
        return
    end = f", validate on {tested.samples} {batches.announced}" if tested is not None and tested.samples else ""
    print(f"Train on {batches.samples} {batches.announced}{end}")


def _amount(batches: Batches) -> str:
    return f"on {batches.samples} samples" if batches.by_sample else f"for {batches.steps} steps"


def _end_early(model: Any, error: OutOfBatchesError, what: str, steps: str, count: int) -> None:
    """Data ended too soon: say so, and train no more."""
    model.stop_training = True
    log.warn(
        f"Your {error.what} ran out of data; interrupting {what}. Make sure that your {error.what} can generate at least "
        f"`{steps}` batches (in this case, {count} batches). You may need to use the repeat() function when building your "
        "dataset."
    )
