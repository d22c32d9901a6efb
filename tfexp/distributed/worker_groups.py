"""How a worker's devices join groups for collective ops, as part of its state machine; and how groups form where it leads.

A group that has formed is a number, under which its members keep values for each other as graphs do under that of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.device import DeviceName
from tfexp.core.errors import InvalidArgumentError, OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Abandon, Ask, Command, Refuse, Respond
from tfexp.distributed.machine import Machine
from tfexp.plan.stages import task_of
from tfexp.runtime.collectives import Formed, Forming


class Groups(Machine):
    """The groups of task `own`, one of `cluster`.

    `numbers` yields those of the groups that form here, which nobody can guess. `takes_part`: it has joined some.
    """

    def __init__(self, own: str, cluster: dict[str, str], numbers: Callable[[], int]):
        super().__init__()
        self._own = own
        self._cluster = cluster
        self._forming: Forming[int] = Forming(numbers)
        self.takes_part = False
        self._left: dict[int, int] = {}  # by key, the group that was left last with its values kept

    def _complete_group(self, call: int, request: m.CompleteGroup) -> list[Command]:
        device = request.member.device
        if request.size < 1 or not self._is_known(device):
            text = f"{device!r} cannot join the group {request.key} of {request.size} at {self._own}: "
            raise InvalidArgumentError(None, None, f"{text}it must be a device of the cluster, and the size positive")

        def withdraw(error: OpError) -> list[Command]:
            self._forming.withdraw(call)
            return [Refuse(call, error)]

        self._cancels[call] = withdraw
        commands: list[Command] = []
        for other, answer in self._forming.join(call, request.key, request.size, request.member):
            self._cancels.pop(other, None)
            commands.append(Respond(other, answer) if isinstance(answer, Formed) else Refuse(other, answer))
        return commands

    def _is_known(self, device: str) -> bool:
        """Whether that is a device of one of the cluster's tasks, in full."""
        try:
            name = DeviceName.parse(device)
        except ValueError:
            return False
        tasks = (self._own, *self._cluster)
        return str(name) == device and name.device_index is not None and task_of(device) in tasks

    def _join_group(self, call: int, request: m.JoinGroup) -> list[Command]:
        self.takes_part = True
        if request.leader == self._own:
            return self._complete_group(call, request.request)
        return self._pass_on(call, request.leader, request.request, wait=True)

    def _pass_on(self, call: int, task: str, request: m.Request, wait: bool = False) -> list[Command]:
        """Have another task answer the call."""

        def answered(reply: Any) -> list[Command]:
            self._cancels.pop(call, None)
            return [Respond(call, reply)]

        def failed(error: OpError) -> list[Command]:
            self._cancels.pop(call, None)
            return [Refuse(call, error)]

        def cancelled(error: OpError) -> list[Command]:
            self._forget(ask)
            return [Abandon(ask, error), Refuse(call, error)]

        ask = self._expect(answered, failed)
        self._cancels[call] = cancelled
        return [Ask(ask, call, task, request, wait)]
