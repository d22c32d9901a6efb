"""What is known of a sweep's trials: a fold over the journal's events, the same while it runs and when it is taken up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tfexp.experiment.sweeps.journal import Event
from tfexp.experiment.sweeps.trial import Attempt, Progress

__all__ = ["Ledger"]


class Ledger:
    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.trials: dict[int, Progress] = {}
        self.planned: list[Event] = []
        self.rungs: dict[int, dict[int, float]] = defaultdict(dict)
        """rung: trial: the value with which its last attempt came there"""
        for event in events:
            self.apply(event)

    def apply(self, event: Event) -> None:
        getattr(self, f"_{event['kind']}")(event)

    def _sweep(self, event: Event) -> None:
        pass

    def _over(self, event: Event) -> None:
        pass

    def _planned(self, event: Event) -> None:
        self.planned.append(event)
        progress = self.trials[event["number"]] = Progress(same_as=event["same_as"])
        if progress.same_as is not None:
            progress.status = "duplicate"

    def _started(self, event: Event) -> None:
        progress = self.trials[event["trial"]]
        progress.attempts.append(Attempt(event["attempt"], event["folder"]))
        progress.status, progress.latest = "running", None
        for values in self.rungs.values():
            values.pop(event["trial"], None)  # of an earlier attempt, whose place this one takes

    def _rung(self, event: Event) -> None:
        self.rungs[event["rung"]][event["trial"]] = event["value"]

    def _ended(self, event: Event) -> None:
        progress = self.trials[event["trial"]]
        attempt = progress.attempts[-1]
        attempt.status, attempt.message = event["status"], event.get("message", "")
        attempt.hopeless = event.get("hopeless", False)
        progress.status = "waiting" if event["again"] else event["status"]
        progress.numbers, progress.seconds = event.get("numbers"), event.get("seconds", 0.0)

    def _again(self, event: Event) -> None:
        self.trials[event["trial"]].status = "waiting"

    # --- what follows from it ---------------------------------------------------------------------------------------

    def lost(self) -> list[tuple[int, Attempt]]:
        """Attempts that nobody ended: the driver was ended before."""
        return [(n, p.attempts[-1]) for n, p in self.trials.items() if p.attempts and p.attempts[-1].status is None]

    def failures(self, number: int) -> int:
        return sum(attempt.status == "failed" for attempt in self.trials[number].attempts)

    def outcome(self, number: int) -> Progress:
        """The trial's own progress, or that of the trial that it is the same as."""
        progress = self.trials[number]
        return progress if progress.same_as is None else self.trials[progress.same_as]

    @property
    def is_over(self) -> bool:
        return all(progress.is_over for progress in self.trials.values())
