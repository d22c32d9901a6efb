"""Callbacks that change the learning rate from epoch to epoch. Source: `tf.keras.callbacks`, TF 1.15."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from tfexp.core import log
from tfexp.keras import backend
from tfexp.keras.callbacks.callback import Callback, Logs
from tfexp.keras.callbacks.monitoring import comparison, worst


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch to `schedule(epoch, lr)`, or `schedule(epoch)` of a function of one argument.

    Raises ValueError for an optimizer without `lr` and for a rate that is no float. The logs get `lr`.
    """

    def __init__(self, schedule: Callable[..., float], verbose: int = 0):
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        if not hasattr(self.model.optimizer, "lr"):
            raise ValueError('Optimizer must have a "lr" attribute.')
        if _takes_one(self.schedule):
            rate = self.schedule(epoch)
        else:
            rate = self.schedule(epoch, float(backend.get_value(self.model.optimizer.lr)))
        if not isinstance(rate, (float, np.float32, np.float64)):
            raise ValueError(f'The output of the "schedule" function should be float. Got: {rate}')
        backend.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is not None:
            logs["lr"] = backend.get_value(self.model.optimizer.lr)


def _takes_one(function: Callable[..., Any]) -> bool:
    """Whether a function cannot be called with two positional arguments."""
    try:
        inspect.signature(function).bind(0, 0.0)
    except TypeError:
        return True
    except ValueError:  # a built-in without a signature
        return False
    return False


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by `factor` when what is watched has not become better for `patience` epochs.

    min_delta: a smaller change is none. cooldown: epochs after a change in which none is counted. min_lr: the lowest rate.
    Raises ValueError for a factor of 1 or more. The logs get `lr`.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 0.0001,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: Any,
    ):
        super().__init__()
        if factor >= 1.0:
            raise ValueError("ReduceLROnPlateau does not support a factor >= 1.0.")
        if "epsilon" in kwargs:
            min_delta = kwargs.pop("epsilon")
            log.warn("`epsilon` argument is deprecated and will be removed, use `min_delta` instead.")
        self.monitor = monitor
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode
        self._better = comparison("Learning Rate Plateau Reducing", monitor, mode)
        self._reset()

    def _reset(self) -> None:
        self.cooldown_counter = 0
        self.wait = 0
        self.best: Any = worst(self._better)

    def monitor_op(self, current: Any, best: Any) -> bool:
        """Whether `current` is better than `best` by more than `min_delta`."""
        return bool(self._better(current, best - self.min_delta if self._better is np.less else best + self.min_delta))

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._reset()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = {} if logs is None else logs
        logs["lr"] = backend.get_value(self.model.optimizer.lr)
        current = logs.get(self.monitor)
        if current is None:
            log.warn(
                "Reduce LR on plateau conditioned on metric `%s` which is not available. Available metrics are: %s",
                self.monitor,
                ",".join(logs),
            )
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self.monitor_op(current, self.best):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        rate = float(backend.get_value(self.model.optimizer.lr))
        if rate <= self.min_lr:
            return
        rate = max(rate * self.factor, self.min_lr)
        backend.set_value(self.model.optimizer.lr, rate)
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0

    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0
