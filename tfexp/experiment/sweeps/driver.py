"""The driver of a sweep: what fits is started, what happens is written down, and what failed is tried again.

Everything goes into the journal before anything follows from it, so the driver may be ended at any moment: what it knows
when it is taken up again is what the journal says, and what the folders of the attempts hold that were under way.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import queue
import statistics
from pathlib import Path
from typing import Any

from tfexp.core.wording import plural
from tfexp.distributed.hosting import HostingError, Message, Work
from tfexp.distributed.pool import Job, Pool
from tfexp.experiment.errors import ExperimentError, Interrupted
from tfexp.experiment.signals import StopRequest
from tfexp.experiment.sweeps.halving import goes_on
from tfexp.experiment.sweeps.journal import Event, Journal, go_on
from tfexp.experiment.sweeps.ledger import Ledger
from tfexp.experiment.sweeps.plan import Planner
from tfexp.experiment.sweeps.schema import Sweep
from tfexp.experiment.sweeps.searching import Search
from tfexp.experiment.sweeps.trial import Needs, Trial
from tfexp.experiment.transfer import to_plain

__all__ = ["Driver", "Watcher", "planned_event"]

_GOOD = ("finished", "stopped early")
WORK = "tfexp.experiment.sweeps.attempt:make"
"""What a job does: an attempt at its trial."""
_REMIND = 1.0
"""Seconds between two looks at the clock while nothing happens."""


class Watcher:
    """Is shown what goes on; this one does not look."""

    def changed(self, ledger: Ledger, trial: int) -> None:
        """Something happened to the trial."""

    def tick(self) -> None:
        """Time goes by."""

    def say(self, text: str) -> None:
        """Something that takes time is about to happen."""


class Driver:
    def __init__(
        self,
        folder: Path,
        sweep: Sweep,
        command: str,
        planner: Planner,
        search: Search,
        journal: Journal,
        ledger: Ledger,
        trials: dict[int, Trial],
        pool: Pool,
        watcher: Watcher,
    ) -> None:
        self.folder, self.sweep, self.command = folder, sweep, command
        self.planner, self.search, self.journal, self.ledger = planner, search, journal, ledger
        self.trials = trials
        """By number; those that the search asks for later are added."""
        self.pool, self.watcher = pool, watcher
        self.events: queue.SimpleQueue[tuple[str, Message]] = queue.SimpleQueue()
        self.running: dict[str, Trial] = {}
        """By the name of the attempt's folder, which is the job's."""
        self.waiting: list[int] = []
        self.exhausted = search.ahead
        self.points = 1 + max((trial.point for trial in trials.values()), default=-1)

    def run(self) -> None:
        """Run every trial that is not over; one that fails is a matter of the ledger.

        Raises Interrupted when a signal asks for the end, ExperimentError when the sweep cannot go on.
        """
        self._adopt()
        self._try_again()
        if not self.search.ahead:
            self._tell_again()
        self.waiting = [number for number, progress in self.ledger.trials.items() if not progress.is_over]
        with contextlib.ExitStack() as stack:
            stop = stack.enter_context(StopRequest(lambda: self.events.put(("", {"kind": "signal"}))))
            stack.callback(self.pool.close)
            try:
                self.capacity = self.pool.open(lambda job, message: self.events.put((job, message)), self.watcher.say)
                while self._start_what_fits() or self.running:
                    try:
                        job, message = self.events.get(timeout=_REMIND)
                    except queue.Empty:
                        self.watcher.tick()
                        continue
                    if message["kind"] == "signal":
                        assert stop.signal is not None
                        raise self._stopped(stop.signal)
                    if message["kind"] == "gone":
                        under_way = plural(len(self.running), "trial")
                        raise ExperimentError(f"{message['why']}, with {under_way} under way\n{go_on(self.folder)}")
                    self._hear(job, message)
            except HostingError as error:
                raise ExperimentError(f"{error}\n{go_on(self.folder)}") from error
            except BrokenPipeError as error:  # of `… | head`
                problem = f"standard output cannot be written: {error.strerror}"
                raise ExperimentError(f"{problem}\nsend it elsewhere, and {go_on(self.folder)}") from error
        self._write({"kind": "over"})

    def _stopped(self, number: int) -> Interrupted:
        over = sum(progress.is_over for progress in self.ledger.trials.values())
        under_way = len(self.running)
        return Interrupted(
            number,
            f"stopped: {over} of {len(self.ledger.trials)} trials are over, and {under_way} "
            f"{'was' if under_way == 1 else 'were'} under way, which will be run again\n{go_on(self.folder)}",
        )

    def _write(self, *events: Event) -> None:
        self.journal.add(events)
        for event in events:
            self.ledger.apply(event)

    # --- taking up what an earlier stay left ------------------------------------------------------------------------

    def _adopt(self) -> None:
        """An attempt that an earlier stay did not see the end of has come to one if its folder holds a result."""
        for number, attempt in self.ledger.lost():
            result = _result(self.folder / attempt.folder / "result.json")
            ended: Event = {"kind": "ended", "trial": number, "attempt": attempt.number}
            if result is not None and result["numbers"]["status"] in (*_GOOD, "halved"):
                numbers, seconds = result["numbers"], result["timing"]["seconds"]
                ended.update(status=numbers["status"], numbers=numbers, seconds=seconds, again=False)
            else:
                self._move_away(attempt.folder)
                ended.update(status="lost", message="the sweep was ended before it", again=True)
            self._write(ended)

    def _try_again(self) -> None:
        """A trial that failed in an earlier stay may have more attempts in this one."""
        for number, progress in self.ledger.trials.items():
            hopeless = progress.attempts and progress.attempts[-1].hopeless
            if progress.status == "failed" and not hopeless and self.ledger.failures(number) <= self.sweep.retries:
                self._write({"kind": "again", "trial": number})

    def _move_away(self, name: str) -> None:
        """Keep what an attempt left that was under way: its next try has its place, as if it had been the first."""
        path = self.folder / name
        if not path.is_dir():
            return
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            number = 1
            while (aside := path.with_name(f"{path.name}-lost-{number}")).exists():
                number += 1
            path.rename(aside)
        except BlockingIOError as error:
            raise ExperimentError(f"{path} is still in use by the earlier stay: try again when that has ended") from error
        finally:
            os.close(descriptor)

    def _tell_again(self) -> None:
        by_point: dict[int, list[int]] = {}
        for number, trial in self.trials.items():
            by_point.setdefault(trial.point, []).append(number)
        for point, numbers in by_point.items():
            self._tell(point, numbers)

    # --- starting ---------------------------------------------------------------------------------------------------

    def _start_what_fits(self) -> bool:
        """Start trials in their order; whether any is under way or was asked for."""
        while True:
            if not self.waiting and not self.exhausted and self._has_room(None):
                self._ask()
                continue
            number = next((n for n in self.waiting if self._has_room(self.trials[n].needs)), None)
            if number is None:
                return bool(self.running or self.waiting or not self.exhausted)
            self.waiting.remove(number)
            self._start(self.trials[number])

    def _has_room(self, needs: Needs | None) -> bool:
        """Whether one more with these needs (None: any) may run now. What needs more than there is runs alone."""
        most = min(x for x in (self.sweep.parallel, self.pool.most, 10**9) if x is not None)
        if len(self.running) >= most:
            return False
        if not self.running or needs is None:
            return True
        all_needs = [needs, *(trial.needs for trial in self.running.values())]
        cpus = sum(need.cpus + need.gang_cpus for need in all_needs)
        gpus = sum(need.gpus + need.gang_gpus for need in all_needs)
        return cpus <= self.capacity.cpus + 1e-9 and gpus <= self.capacity.gpus + 1e-9

    def _ask(self) -> None:
        point = self.search.ask()
        if point is None:
            self.exhausted = True
            return
        trials = self.planner.trials(self.points, point)
        self.points += 1
        self._write(*(planned_event(trial, point, self.planner.same_as(trial)) for trial in trials))
        for trial in trials:
            self.trials[trial.number] = trial
            if not self.ledger.trials[trial.number].is_over:
                self.waiting.append(trial.number)
            self.watcher.changed(self.ledger, trial.number)
        self._tell(trials[0].point, [trial.number for trial in trials])

    def _start(self, trial: Trial) -> None:
        number = self.ledger.trials[trial.number].tries + 1
        name = trial.folder if number == 1 else f"{trial.folder}-attempt-{number}"
        path = self.folder / name
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ExperimentError(f"cannot make {path}: {error.strerror}\n{go_on(self.folder)}") from error
        self._write({"kind": "started", "trial": trial.number, "attempt": number, "folder": name})
        arguments = {
            "settings": to_plain(trial.settings),
            "folder": str(path.absolute()),
            "command": self.command,
            "config": trial.config_yaml,
            "words": list(trial.words),
            "part": self.sweep.part,
            "metric": self.sweep.metric_name,
            "rungs": list(self.sweep.halving.rungs(trial.total_steps)),
            "working_directory": os.getcwd(),
        }
        needs = trial.needs
        self.running[name] = trial
        self.pool.start(
            Job(
                name,
                Work(WORK, arguments),
                path.absolute() / "trial.log",
                needs.cpus,
                needs.gpus,
                needs.gang_cpus,
                needs.gang_gpus,
            )
        )
        self.watcher.changed(self.ledger, trial.number)

    # --- hearing ----------------------------------------------------------------------------------------------------

    def _hear(self, job: str, message: Message) -> None:
        trial = self.running.get(job)
        if trial is None:
            return
        progress = self.ledger.trials[trial.number]
        match message["kind"]:
            case "evaluated":
                progress.latest = (message["step"], message["value"])
                self.watcher.changed(self.ledger, trial.number)
            case "rung":
                self._decide(job, trial, message)
            case "ended":
                result = message["result"]
                self._end(job, trial, **result)
            case "failed":
                self._end(job, trial, status="failed", message=f"{message['error']}: {message['message']}")
            case "exited":
                self._end(job, trial, status="failed", message=message["why"])

    def _decide(self, job: str, trial: Trial, message: Message) -> None:
        rung, value, factor = message["rung"], message["value"], self.sweep.halving.factor
        assert factor is not None
        others = [v for number, v in self.ledger.rungs[rung].items() if number != trial.number]
        on = goes_on(value, others, factor, self.sweep.minimizes)
        self._write({"kind": "rung", "trial": trial.number, "rung": rung, "value": value, "goes_on": on})
        self.pool.tell(job, {"kind": "answer", "stop": not on})
        self.ledger.trials[trial.number].latest = (message["step"], value)
        self.watcher.changed(self.ledger, trial.number)

    def _end(
        self,
        job: str,
        trial: Trial,
        *,
        status: str,
        message: str = "",
        again: bool = False,
        numbers: dict[str, Any] | None = None,
        seconds: float = 0.0,
    ) -> None:
        """`again`: that it would only fail in the same way again."""
        del self.running[job]
        attempt = self.ledger.trials[trial.number].attempts[-1]
        failed = status not in (*_GOOD, "halved")
        retried = failed and not again and self.ledger.failures(trial.number) < self.sweep.retries
        event: Event = {"kind": "ended", "trial": trial.number, "attempt": attempt.number}
        event.update(status="failed" if failed else status, again=retried, message=message)
        if failed:
            event.update(hopeless=again)
        else:
            event.update(numbers=numbers, seconds=seconds)
        self._write(event)
        if retried:
            self.waiting.append(trial.number)
        self.watcher.changed(self.ledger, trial.number)
        self._tell(trial.point, [n for n, other in self.trials.items() if other.point == trial.point])

    def _tell(self, point: int, numbers: list[int]) -> None:
        """Tell the search when the last trial of the point is over."""
        outcomes = [self.ledger.outcome(number) for number in numbers]
        if all(outcome.is_over for outcome in outcomes):
            values = [self._value(outcome.numbers) for outcome in outcomes if outcome.numbers is not None]
            value = statistics.fmean(values) if len(values) == len(outcomes) else None
            steps = [o.numbers["step"] for o in outcomes if o.status == "halved" and o.numbers is not None]
            self.search.tell(point, value, halved_at=min(steps, default=None))

    def _value(self, numbers: dict[str, Any]) -> float:
        return float(numbers[self.sweep.part][self.sweep.metric_name])


def planned_event(trial: Trial, point: dict[str, str], same_as: int | None) -> Event:
    return {
        "kind": "planned",
        "number": trial.number,
        "point_number": trial.point,
        "point": point,
        "varied": trial.varied,
        "folder": trial.folder,
        "same_as": same_as,
        "config": trial.config_yaml,
    }


def _result(path: Path) -> dict[str, Any] | None:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return found if "timing" in found else None
