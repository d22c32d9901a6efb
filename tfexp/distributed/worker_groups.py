"""How a worker's devices join groups for collective ops, as part of its state machine; and how groups form where it leads.

A group that has formed is a number, under which its members keep values for each other as graphs do under that of a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.core.errors import OpError
from tfexp.distributed import messages as m
from tfexp.distributed.events import Abandon, Ask, Command, Refuse, Respond
from tfexp.distributed.machine import Machine
from tfexp.runtime.collectives import Formed, Forming


class Groups(Machine):
    """The groups of task `own`. `numbers` yields those of the groups that form here, which nobody can guess."""

    def __init__(self, own: str, numbers: Callable[[], int]):
        super().__init__()
        self._own = own
        self._forming: Forming[int] = Forming(numbers)
        self._left: dict[int, int] = {}  # by key, the group that was left last with its values kept

    def _complete_group(self, call: int, request: m.CompleteGroup) -> list[Command]:
        def withdraw(error: OpError) -> list[Command]:
            self._forming.withdraw(call)
            return [Refuse(call, error)]

        self._cancels[call] = withdraw
        commands: list[Command] = []
        for other, answer in self._forming.join(call, request.key, request.size, request.member):
            self._cancels.pop(other, None)
            commands.append(Respond(other, answer) if isinstance(answer, Formed) else Refuse(other, answer))
        return commands

    def _join_group(self, call: int, request: m.JoinGroup) -> list[Command]:
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
