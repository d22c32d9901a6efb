"""`tf.keras.callbacks.ModelCheckpoint`: the model, or its weights, saved as it is trained. Source: TF 1.15."""

from __future__ import annotations

import os
import re
from typing import Any

from tfexp.core import log
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.keras.callbacks.callback import Callback, Logs
from tfexp.keras.callbacks.monitoring import comparison, worst


class ModelCheckpoint(Callback):
    """Saves the model to `filepath`, in which names in braces become the epoch (from 1) and the logs: `{epoch:02d}-{loss}`.

    save_best_only: only when `monitor` has become better. save_freq: 'epoch', or after how many samples. mode: 'min', 'max'
    or 'auto', by the name. kwargs: `period`, after how many epochs; `load_weights_on_restart`, whether training begins with
    the weights of the latest file of that name, whatever stands in the place of braces. Raises ValueError for another
    `save_freq`, TypeError for other arguments, KeyError for a name in `filepath` that the logs do not have.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        **kwargs: Any,
    ):
        super().__init__()
        self.monitor = monitor
        self.verbose = verbose
        self.filepath: Any = filepath if filepath is None else os.fspath(filepath)
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.period = kwargs.pop("period", 1)
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise ValueError(f"Unrecognized save_freq: {save_freq}")
        self.monitor_op = comparison("ModelCheckpoint", monitor, mode, ("fmeasure",))
        self.best: Any = worst(self.monitor_op)
        self.epochs_since_last_save = 0
        self._samples_seen_since_last_saving = 0
        self._current_epoch = 0

    def on_train_begin(self, logs: Logs | None = None) -> None:
        if not self.load_weights_on_restart:
            return
        path = self._get_most_recently_modified_file_matching_pattern(self.filepath) or self.filepath
        if os.path.exists(path) or os.path.exists(f"{path}.index"):
            self.model.load_weights(path)

    def _get_most_recently_modified_file_matching_pattern(self, pattern: str) -> str | None:
        """The latest checkpoint of such a name, else the latest file, of several that are as late the last by name.

        Parts in braces stand for anything. None where there is none.
        """
        folder, base = os.path.split(pattern)
        named = re.compile(re.sub(r"\\\{.*?\\\}", ".*", re.escape(base)))
        checkpoint = latest_checkpoint(folder)
        if checkpoint is not None and named.fullmatch(os.path.basename(checkpoint)):
            return checkpoint
        names = [name for name in (os.listdir(folder) if os.path.isdir(folder) else ()) if named.fullmatch(name)]
        paths = [os.path.join(folder, name) for name in names]
        return max(paths, key=lambda path: (os.path.getmtime(path), path), default=None)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self._current_epoch = epoch

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        if isinstance(self.save_freq, int):
            self._samples_seen_since_last_saving += (logs or {}).get("size", 1)
            if self._samples_seen_since_last_saving >= self.save_freq:
                self._save(self._current_epoch, logs or {})
                self._samples_seen_since_last_saving = 0

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self._save(epoch, logs or {})

    def _save(self, epoch: int, logs: Logs) -> None:
        self.epochs_since_last_save = 0
        path = self._path(epoch, logs)
        if self.save_best_only:
            current = logs.get(self.monitor)
            if current is None:
                log.warn("Can save best model only with %s available, skipping.", self.monitor)
                return
            if not self.monitor_op(current, self.best):
                self._say(epoch, f"{self.monitor} did not improve from {self.best:0.5f}")
                return
            self._say(epoch, f"{self.monitor} improved from {self.best:0.5f} to {current:0.5f}, saving model to {path}")
            self.best = current
        else:
            self._say(epoch, f"saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _path(self, epoch: int, logs: Logs) -> str:
        named = {name: value for name, value in logs.items() if name not in {"batch", "size", "epoch"}}
        try:
            return self.filepath.format(epoch=epoch + 1, **named)
        except KeyError as error:
            raise KeyError(
                f'Failed to format this callback filepath: "{self.filepath}". Reason: {error}. There are: epoch, '
                f"{', '.join(named)}"
            ) from None

    def _say(self, epoch: int, what: str) -> None:
        if self.verbose > 0:
            print(f"\nEpoch {epoch + 1:05d}: {what}")
