"""Callbacks that keep what happened: averages, the history, a CSV file, a server. Source: `tf.keras.callbacks`, TF 1.15."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from tfexp.core import log
from tfexp.keras.callbacks.callback import Callback, Logs


class BaseLogger(Callback):
    """Puts into an epoch's logs the mean over its batches, each as heavy as it is large.

    stateful_metrics: names that are totals already, of which the last value is the epoch's.
    """

    def __init__(self, stateful_metrics: Iterable[str] | None = None):
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.seen = 0
        self.totals = {}

    def on_batch_end(self, batch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        size = logs.get("size", 0)
        self.seen += size * logs.get("num_steps", 1)
        for name, value in logs.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + np.multiply(value, size, dtype=np.float64)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if logs is None:
            return
        for name in self.params["metrics"]:
            if name in self.totals:
                total = self.totals[name]
                logs[name] = total if name in self.stateful_metrics else total / self.seen


class History(Callback):
    """What `fit` returns: `epoch`, the numbers of the epochs, and `history`, a list of one value per epoch for each name."""

    def __init__(self) -> None:
        super().__init__()
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.epoch, self.history = [], {}

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class CSVLogger(Callback):
    """Writes a line per epoch: `epoch` and the logs by name, lists quoted, `NA` for values that training ended without.

    append: whether to go on in a file that is there, under its heading.
    """

    def __init__(self, filename: str, separator: str = ",", append: bool = False):
        super().__init__()
        self.filename = str(filename)
        self.sep = separator
        self.append = append
        self.keys: list[str] | None = None
        self.append_header = True
        self.csv_file: Any = None
        self.writer: csv.DictWriter[str] | None = None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        if self.append:
            try:
                with open(self.filename, newline="") as before:
                    self.append_header = not before.readline()
            except FileNotFoundError:
                self.append_header = True
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="")  # noqa: SIM115  closed at the end

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:  # the last epoch may not have been validated
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if self.writer is None:
            self.writer = csv.DictWriter(
                self.csv_file,
                ["epoch", *self.keys],
                delimiter=self.sep,
                lineterminator="\n",
                extrasaction="ignore",
                restval="NA",
            )
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch} | {key: _written(logs[key]) for key in self.keys if key in logs})
        self.csv_file.flush()

    def on_train_end(self, logs: Logs | None = None) -> None:
        self.csv_file.close()
        self.writer = None


def _written(value: Any) -> Any:
    """A list as `"[1, 2]"`; anything else as it is."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return value
    return f'"[{", ".join(map(str, value))}]"'


class RemoteMonitor(Callback):
    """Sends the logs of each epoch to a server: POST to `root + path`, as JSON or as the form field `field` of JSON.

    A server that does not answer is a warning.
    """

    def __init__(
        self,
        root: str = "http://localhost:9000",
        path: str = "/publish/epoch/end/",
        field: str = "data",
        headers: dict[str, str] | None = None,
        send_as_json: bool = False,
    ):
        super().__init__()
        self.root = root
        self.path = path
        self.field = field
        self.headers = headers
        self.send_as_json = send_as_json

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        # What speaks HTTP takes longer to load than all of the callbacks.
        from urllib.error import HTTPError, URLError
        from urllib.parse import urlencode
        from urllib.request import Request, urlopen

        sent = {"epoch": epoch} | {
            name: value.item() if isinstance(value, (np.ndarray, np.generic)) else value
            for name, value in (logs or {}).items()
        }
        text = json.dumps(sent)
        if self.send_as_json:
            body, kind = text, "application/json"
        else:
            body, kind = urlencode({self.field: text}), "application/x-www-form-urlencoded"
        request = Request(self.root + self.path, body.encode(), {"Content-Type": kind} | (self.headers or {}), method="POST")
        try:
            urlopen(request).close()
        except HTTPError as answer:  # the server heard it
            answer.close()
        except URLError as error:
            log.warn("Warning: could not reach RemoteMonitor root server at %s (%s)", self.root, error.reason)
