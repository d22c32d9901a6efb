"""How devices find each other for collective ops, and what they then hand to each other.

A group forms when as many devices as it has have joined it, at its leader. It is a number from then on, until one of its
members leaves it: because a step with a collective op failed there, or because the session is over. That is an error for
the others, who leave as well, and all join anew with their next step: what belongs to one attempt is never mistaken for
that of another. (What a session has posted before it ends can still be taken: who is quicker does not wait for the others.)
"""

from __future__ import annotations

import abc
import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tfexp.core.device import DeviceName
from tfexp.core.errors import AbortedError, CancelledError, InvalidArgumentError, OpError
from tfexp.core.waiting import Promise, Waiting

Who = TypeVar("Who")
Done = Callable[[Any, OpError | None], None]  # called once, with an answer or with an error
Place = tuple[str, int, int]  # a device, and the key and the size of a group


@dataclass(frozen=True)
class Member:
    """A device of a group; its incarnation changes when its process does."""

    device: str
    incarnation: int = 0


@dataclass(frozen=True)
class Formed:
    """A group that has formed: its number, which no other has, and its members in the order of their ranks."""

    number: int
    members: tuple[Member, ...]


class Forming(Generic[Who]):
    """The groups that are about to form at a leader. Decides, and does nothing."""

    def __init__(self, numbers: Callable[[], int]):
        self._numbers = numbers
        self._sizes: dict[int, int] = {}
        self._joined: dict[int, dict[str, tuple[Who, Member]]] = {}  # by key and device

    def join(self, who: Who, key: int, size: int, member: Member) -> list[tuple[Who, Formed | OpError]]:
        """Whom there is something to say to now, and what. A device that joins again takes its own place."""
        joined = self._joined.setdefault(key, {})
        expected = self._sizes.setdefault(key, size)
        if size != expected:
            text = f"Device {member.device} is joining a group with size {size}, but that group has size {expected} "
            error = InvalidArgumentError(None, None, f"{text}(group_key={key})")
            return [(other, error) for other in (*(w for w, _ in self._pop(key)), who)]
        answers: list[tuple[Who, Formed | OpError]] = []
        if member.device in joined:
            again = AbortedError(None, None, f"{member.device} joined the group {key} again")
            answers.append((joined[member.device][0], again))
        joined[member.device] = (who, member)
        if len(joined) == size:
            formed = Formed(self._numbers(), tuple(sorted((m for _, m in joined.values()), key=_rank)))
            answers.extend((other, formed) for other, _ in self._pop(key))
        return answers

    def withdraw(self, who: Who) -> None:
        """Whoever joined does not wait for the group any more."""
        for key, joined in list(self._joined.items()):
            for device in [d for d, (other, _) in joined.items() if other == who]:
                del joined[device]
            if not joined:
                self._pop(key)

    def _pop(self, key: int) -> Sequence[tuple[Who, Member]]:
        self._sizes.pop(key, None)
        return list(self._joined.pop(key, {}).values())


def _rank(member: Member) -> tuple[Any, ...]:
    name = DeviceName.parse(member.device)
    return (name.job or "", name.replica or 0, name.task or 0, name.device_type or "", name.device_index or 0)


class Group:
    """A device's membership in a group that has formed (`core.kernel.Group`)."""

    def __init__(self, exchange: Exchange, formed: Formed, device: str):
        self._exchange = exchange
        self._formed = formed
        self.rank = next(rank for rank, member in enumerate(formed.members) if member.device == device)
        self.size = len(formed.members)
        self.sources: dict[int, int | None] = {}
        self._rounds: dict[int, int] = {}

    @property
    def number(self) -> int:
        return self._formed.number

    @property
    def devices(self) -> tuple[str, ...]:
        return tuple(member.device for member in self._formed.members)

    def begin(self, instance: int) -> str:
        turn = self._rounds[instance] = self._rounds.get(instance, 0) + 1
        return f"{instance}/{turn}"

    def send(self, rank: int, name: str, value: Any) -> None:
        self._exchange._post(self.number, self._key(self.rank, rank, name), value)

    def receive(self, rank: int, name: str) -> Waiting:
        key = self._key(rank, self.rank, name)
        withdraw: list[Callable[[OpError], None]] = []

        def give_up(promise: Promise, reason: OpError) -> None:
            promise.fail(reason)
            for stop in withdraw:
                stop(reason)

        promise = Promise(lambda: f"what {self.devices[rank]} has for a collective op", give_up)
        withdraw.append(self._exchange._fetch(self.number, key, functools.partial(_settle, promise)))
        return promise

    def leave(self, error: OpError) -> None:
        self._exchange._leave_group(self.number, error)

    def _key(self, source: int, destination: int, name: str) -> str:
        sender, receiver = self._formed.members[source], self._formed.members[destination]
        return f"{sender.device};{sender.incarnation:016x};{receiver.device};collective/{name};0:0"


def _settle(promise: Promise, value: Any, error: OpError | None) -> None:
    if error is None:
        promise.keep(value)
    else:
        promise.fail(error)


class Exchange(abc.ABC):
    """A session's memberships. A subclass says how its devices and those of others reach each other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[Place, Group] = {}
        self._joining: dict[Place, list[Promise]] = {}
        self._ended = False

    def group(self, device: str, key: int, size: int, begun: dict[Place, Group]) -> Any:
        """The membership of `device` in the group, or a Waiting for it.

        `begun`: those that the step has so far. It keeps to them also when they are over: the others join with their next
        steps. Who stops waiting does not take back that the device has joined: the next step finds what came of it.
        """
        place = (device, key, size)
        with self._lock:
            found = begun.get(place) or self._groups.get(place)
            if found is not None:
                return begun.setdefault(place, found)
            promise = Promise(
                lambda: f"the {size} devices of the collective group {key}",
                Promise.fail,
                lambda group: begun.setdefault(place, group),
            )
            is_first = place not in self._joining
            self._joining.setdefault(place, []).append(promise)
        if is_first:
            self._join(device, key, size, functools.partial(self._joined, place))
        return promise

    def _joined(self, place: Place, formed: Formed | None, error: OpError | None) -> None:
        group = None if formed is None else Group(self, formed, place[0])
        with self._lock:
            waiting, ended = self._joining.pop(place), self._ended
            if group is not None and not ended:
                self._groups[place] = group
        if group is not None and ended:
            self._leave(place[1], group.number, _ended(), False)
        for promise in waiting:
            _settle(promise, group, error)

    def _leave_group(self, number: int, error: OpError, keeps: bool = False) -> None:
        with self._lock:
            places = [place for place, group in self._groups.items() if group.number == number]
            for place in places:
                del self._groups[place]
        if places:
            self._leave(places[0][1], number, error, keeps)

    def fail(self, error: OpError) -> None:
        """A step with collective ops has failed: what the next one makes of them is nothing that the others wait for."""
        self._leave_all(error)

    def end(self) -> None:
        """The session is over."""
        with self._lock:
            self._ended = True
        self._leave_all(_ended(), keeps=True)

    def _leave_all(self, error: OpError, keeps: bool = False) -> None:
        with self._lock:
            numbers = {group.number for group in self._groups.values()}
        for number in numbers:
            self._leave_group(number, error, keeps)

    @abc.abstractmethod
    def _join(self, device: str, key: int, size: int, done: Done) -> None:
        """Join, at the leader; `done` gets what has formed."""

    @abc.abstractmethod
    def _post(self, number: int, key: str, value: Any) -> None:
        """Have the value there for whoever fetches it."""

    @abc.abstractmethod
    def _fetch(self, number: int, key: str, done: Done) -> Callable[[OpError], None]:
        """Take what was, or will be, posted under the key. Returns what gives up on it."""

    @abc.abstractmethod
    def _leave(self, key: int, number: int, error: OpError, keeps: bool) -> None:
        """No more is posted here to the group of that key and number, because of the error.

        `keeps`: what has been posted can still be fetched.
        """


def _ended() -> OpError:
    return CancelledError(None, None, "its session has ended")


class LocalExchange(Exchange):
    """Between the devices of a process, for a session without a server."""

    def __init__(self) -> None:
        super().__init__()
        self._state = threading.Lock()
        self._forming: Forming[Done] = Forming(itertools.count(1).__next__)
        self._values: dict[tuple[int, str], Any] = {}
        self._takers: dict[tuple[int, str], Done] = {}
        self._left: dict[int, str] = {}  # and why: an error itself would keep the values of the steps that it ends

    def _join(self, device: str, key: int, size: int, done: Done) -> None:
        with self._state:
            answers = self._forming.join(done, key, size, Member(device))
        for other, answer in answers:
            if isinstance(answer, Formed):
                other(answer, None)
            else:
                other(None, answer)

    def _post(self, number: int, key: str, value: Any) -> None:
        with self._state:
            taker = self._takers.pop((number, key), None)
            if taker is None and number not in self._left:
                self._values[number, key] = value
        if taker is not None:
            taker(value, None)

    def _fetch(self, number: int, key: str, done: Done) -> Callable[[OpError], None]:
        with self._state:
            value, why = self._values.pop((number, key), None), self._left.get(number)
            if value is None and why is None:
                self._takers[number, key] = done
                return lambda _: self._forget((number, key))
        done(value, None if value is not None else AbortedError(None, None, why or ""))
        return lambda _: None

    def _forget(self, place: tuple[int, str]) -> None:
        with self._state:
            self._takers.pop(place, None)

    def _leave(self, key: int, number: int, error: OpError, keeps: bool) -> None:
        with self._state:
            self._left[number] = why = left("a device of the group", error).message
            takers = [self._takers.pop(place) for place in list(self._takers) if place[0] == number]
            for place in [place for place in self._values if place[0] == number]:
                del self._values[place]
        for taker in takers:
            taker(None, AbortedError(None, None, why))


def left(who: str, error: OpError) -> OpError:
    """What the others of a group are told when one has left it."""
    return AbortedError(None, None, f"A collective op cannot go on: {who} gave it up ({error.message})")
