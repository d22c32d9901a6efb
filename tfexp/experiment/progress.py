"""What is shown while a run trains: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["Progress", "Rows", "clock", "progress_for"]


class Progress(ABC):
    """Counts steps from `start` to `total`, and speed from the steps made since it began."""

    interval = 0.1
    """Seconds between two looks at the screen."""

    def __init__(self, title: str, start: int, total: int) -> None:
        self.title, self.start, self.total = title, start, total
        self._began = self._shown = time.perf_counter()

    def step(self, done: int, loss: float, detail: str = "") -> None:
        """`done` steps are done, and the last one's batch had this loss; `detail` is shown as it is. Costs next to nothing
        between two looks.
        """
        now = time.perf_counter()
        if now - self._shown >= self.interval or done == self.total:
            self._shown = now
            speed = (done - self.start) / max(now - self._began, 1e-9)
            self.show(done, loss, speed, (self.total - done) / max(speed, 1e-9), detail)

    @abstractmethod
    def show(self, done: int, loss: float, speed: float, seconds_left: float, detail: str) -> None: ...

    @abstractmethod
    def close(self) -> None: ...


class Bar(Progress):
    def __init__(self, title: str, start: int, total: int) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as RichProgress

        super().__init__(title, start, total)
        # it refreshes when we say so: a thread of its own would take turns with the training
        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[numbers]}"),
            auto_refresh=False,
        )
        self._task = self._bar.add_task(title, total=total, completed=start, numbers="")
        self._bar.start()

    def show(self, done: int, loss: float, speed: float, seconds_left: float, detail: str) -> None:
        numbers = f"loss {loss:.4g}  {speed:,.0f} steps/s  {clock(seconds_left)} left{_apart(detail)}"
        self._bar.update(self._task, completed=done, numbers=numbers, refresh=True)

    def close(self) -> None:
        self._bar.stop()


class Lines(Progress):
    """A line at each tenth of the way, and every ten seconds."""

    interval = 10.0

    def __init__(self, title: str, start: int, total: int) -> None:
        super().__init__(title, start, total)
        self._tenth = start * 10 // total

    def step(self, done: int, loss: float, detail: str = "") -> None:
        tenth = done * 10 // self.total
        if tenth > self._tenth:
            self._tenth, self._shown = tenth, -self.interval
        super().step(done, loss, detail)

    def show(self, done: int, loss: float, speed: float, seconds_left: float, detail: str) -> None:
        print(
            f"{self.title}: step {done}/{self.total}  loss {loss:.6g}  {speed:,.0f} steps/s  {clock(seconds_left)} left"
            f"{_apart(detail)}",
            flush=True,
        )

    def close(self) -> None:
        pass


class Rows:
    """Counts rows while they are written: a bar if standard output is a terminal, else lines now and then."""

    interval = 1.0
    """Seconds between two lines."""

    def __init__(self, title: str, total: int, stream: Any = None) -> None:
        self.title, self.total = title, total
        self._bar = None
        self._shown = time.perf_counter() - self.interval
        if (stream or sys.stdout).isatty():
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
            self._bar = RichProgress(*columns)
            self._task = self._bar.add_task(title, total=total)
            self._bar.start()

    def done(self, rows: int) -> None:
        """So many rows are done."""
        if self._bar is not None:
            self._bar.update(self._task, completed=rows)
            return
        now = time.perf_counter()
        if rows == self.total or now - self._shown >= self.interval:
            self._shown = now
            print(f"{self.title}: {rows}/{self.total} rows", flush=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def progress_for(title: str, start: int, total: int, stream: Any = None) -> Progress:
    """A bar if standard output is a terminal, else lines."""
    return (Bar if (stream or sys.stdout).isatty() else Lines)(title, start, total)


def clock(seconds: float) -> str:
    """`1:02:03`, or `2:03` where there is no hour."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _apart(detail: str) -> str:
    return f"  {detail}" if detail else ""
