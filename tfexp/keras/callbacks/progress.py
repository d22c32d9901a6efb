"""`tf.keras.callbacks.ProgbarLogger`: a line that shows how far an epoch is, and its metrics. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfexp.keras.callbacks.callback import Callback, Logs
from tfexp.keras.utils.progbar import Progbar


class ProgbarLogger(Callback):
    """Draws by `params`: `verbose` (0: nothing, 1: a bar, 2: a line per epoch), `epochs`, `samples` or `steps`, `metrics`.

    count_mode: 'samples' or 'steps', ValueError for another. stateful_metrics: names of values to show as they are; those of
    others are averaged over the batches.
    """

    def __init__(self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None):
        super().__init__()
        if count_mode not in {"samples", "steps"}:
            raise ValueError(f"Unknown `count_mode`: {count_mode}")
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.target: int | None = None
        self.verbose: Any = 0
        self.epochs = 1
        self.progbar: Any = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.verbose = self.params["verbose"]
        self.epochs = self.params["epochs"]

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.seen = 0
        self.target = self.params["steps" if self.use_steps else "samples"]
        if not self.verbose:
            return
        if self.epochs > 1:
            print(f"Epoch {epoch + 1}/{self.epochs}")
        self.progbar = Progbar(
            target=self.target,
            verbose=self.verbose,
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        self.seen += logs.get("num_steps", 1) if self.use_steps else logs.get("size", 0)
        # The last batch is drawn at the end of the epoch, with what validation gave.
        if self.verbose and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self._shown(logs))

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self.verbose:
            if self.target is None:  # now that the data has ended it is known
                self.target = self.progbar.target = self.seen
            shown = self._shown(logs or {})
            # These are means over the epoch, and not to be averaged with its batches: what is shown is what History has.
            self.progbar.stateful_metrics.update(name for name, _ in shown)
            self.progbar.update(self.seen, shown)

    def _shown(self, logs: Logs) -> list[tuple[str, Any]]:
        return [(name, logs[name]) for name in self.params["metrics"] if name in logs]
