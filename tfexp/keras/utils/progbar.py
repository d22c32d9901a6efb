"""`tf.keras.utils.Progbar`: a line that shows how far a loop is, with averages of its values. Source: TF 1.15."""

from __future__ import annotations

import math
import os
import sys
import time
from collections.abc import Iterable
from typing import Any

import numpy as np


class Progbar:
    """`update(current, values)` draws `3/5 [=====>....] - ETA: 1s - loss: 0.6667` to the standard output.

    target: how many steps there are, None where nobody knows. width: of the bar. verbose: 0 nothing, 1 the bar, 2 one line
    at the end. interval: seconds between drawings. stateful_metrics: names of values to show as they are; others are
    averaged over the steps. unit_name: of a step.
    """

    def __init__(
        self,
        target: int | None,
        width: int = 30,
        verbose: int = 1,
        interval: float = 0.05,
        stateful_metrics: Iterable[str] | None = None,
        unit_name: str = "step",
    ):
        self.target, self.width, self.verbose, self.interval, self.unit_name = target, width, verbose, interval, unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        # On consoles that know no carriage return each drawing is a line.
        self._in_place = os.name == "posix" or sys.stdout.isatty() or "ipykernel" in sys.modules
        self._drawn = 0  # characters on the line
        self._seen = 0
        self._values: dict[str, tuple[Any, int]] = {}  # the sum, and of how many steps
        self._start = time.time()
        self._last_update = 0.0

    def update(self, current: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """`current` steps are done; `values` are those of the steps since the last call."""
        steps = current - self._seen
        for name, value in values or ():
            if name in self.stateful_metrics:
                self._values[name] = value, 1
            else:
                total, count = self._values.get(name, (0, 0))
                self._values[name] = total + value * steps, count + steps
        self._seen = current
        now = time.time()
        is_done = self.target is not None and current >= self.target
        if self.verbose == 1:
            if now - self._last_update < self.interval and self.target is not None and not is_done:
                return
            self._draw(current, now, is_done)
        elif self.verbose == 2 and is_done:
            self._write(f"{current:{self._digits}d}/{self.target} - {now - self._start:.0f}s{self._shown_values()}\n")
        self._last_update = now

    def add(self, n: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """`n` more steps are done."""
        self.update(self._seen + n, values)

    @property
    def _digits(self) -> int:
        return int(math.log10(self.target)) + 1 if self.target else 1

    def _draw(self, current: int, now: float, is_done: bool) -> None:
        line = self._bar(current) + self._timing(current, now - self._start) + self._shown_values()
        rubbed_out = "\b" * self._drawn + "\r" if self._in_place else "\n"
        rest = " " * (self._drawn - len(line))
        self._drawn = len(line)
        self._write(rubbed_out + line + rest + ("\n" if is_done else ""))

    def _bar(self, current: int) -> str:
        if self.target is None:
            return f"{current:7d}/Unknown"
        filled = int(self.width * current / self.target)
        head = ">" if current < self.target else "="
        bar = "=" * (filled - 1) + head * bool(filled) + "." * (self.width - filled)
        return f"{current:{self._digits}d}/{self.target} [{bar}]"

    def _timing(self, current: int, seconds: float) -> str:
        """How long it will take; how long a step took, where that is not known or it is done."""
        each = seconds / current if current else 0.0
        if self.target is not None and current < self.target:
            left = int(each * (self.target - current))
            if left > 3600:
                return f" - ETA: {left // 3600}:{left % 3600 // 60:02d}:{left % 60:02d}"
            return f" - ETA: {left // 60}:{left % 60:02d}" if left > 60 else f" - ETA: {left}s"
        if each >= 1 or each == 0:
            a_step = f"{each:.0f}s"
        else:
            a_step = f"{each * 1e3:.0f}ms" if each >= 1e-3 else f"{each * 1e6:.0f}us"
        return f" - {seconds:.0f}s {a_step}/{self.unit_name}"

    def _shown_values(self) -> str:
        text = ""
        for name, (total, count) in self._values.items():
            mean = np.mean(total / max(1, count))
            text += f" - {name}: {mean:.4f}" if abs(mean) > 1e-3 else f" - {name}: {mean:.4e}"
        return text

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
