"""Callbacks that end training early. Source: `tf.keras.callbacks`, TF 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import log
from tfexp.keras.callbacks.callback import Callback, Logs
from tfexp.keras.callbacks.monitoring import comparison, worst


class TerminateOnNaN(Callback):
    """Ends training after a batch whose loss is infinite or not a number."""

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.isfinite(loss):
            print(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class EarlyStopping(Callback):
    """Ends training when what is watched has not become better for `patience` epochs.

    min_delta: a smaller change is none. mode: 'min', 'max' or 'auto', by the name. baseline: what the first epochs have to
    be better than. restore_best_weights: whether the model then gets the weights of its best epoch.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ):
        super().__init__()
        self.monitor = monitor
        self.monitor_op = comparison("EarlyStopping", monitor, mode)
        self.min_delta = abs(min_delta) if self.monitor_op is np.greater else -abs(min_delta)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.restore_best_weights = restore_best_weights
        self.wait = 0
        self.stopped_epoch = 0
        self.best_weights: Any = None
        self.best: Any = worst(self.monitor_op)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best = worst(self.monitor_op) if self.baseline is None else self.baseline

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait < self.patience:
            return
        self.stopped_epoch = epoch
        self.model.stop_training = True
        if self.restore_best_weights and self.best_weights is not None:
            if self.verbose > 0:
                print("Restoring model weights from the end of the best epoch.")
            self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose > 0:
            print(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: Logs | None) -> Any:
        """What is watched, of an epoch's logs; None, with a warning, where it is not among them."""
        value = (logs or {}).get(self.monitor)
        if value is None:
            log.warn(
                "Early stopping conditioned on metric `%s` which is not available. Available metrics are: %s",
                self.monitor,
                ",".join(logs or {}),
            )
        return value
