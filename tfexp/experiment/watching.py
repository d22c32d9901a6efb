"""What follows a run from outside, and may end it."""

from __future__ import annotations

from tfexp.experiment.history import Record

__all__ = ["Watch"]


class Watch:
    """Hears of every evaluation before the last step, in the thread that trains, or on a cluster that follows the tasks. Who
    evaluated waits for the answer. This one lets the run go on to its end."""

    draws = True
    """Whether the run leaves pictures: of many runs that are compared, each one's would be drawn in vain."""

    def evaluated(self, record: Record) -> str | None:
        """None to go on, or the status with which the run ends here."""
        return None

    def signal(self) -> int | None:
        """The signal that asks the run to end after this step: looked at between two steps, on a cluster twice a second."""
        return None
