"""Who makes the steps of a synchronous training together now, and what happens when one of them is lost: generations.

Who owns what:

- The parameter servers have the variables and what a step gathers: sums of gradients, votes, tokens. That of the global
  step also has the marks of this module. All of it outlives replicas.
- The chief owns the number of the generation: it alone begins one, at first and whenever it has a new session.
- A replica owns the number of the generation that it is in. What it hands in carries its round, generation and step in one
  number that only rises: what is of an earlier round is dropped where it comes in, however late that is.

Who is lost, and what follows:

- A replica. Those that are left need it for a step, and wait, or do not (spare replicas), and go on. It may have handed in a
  part of a gradient, or all of it, so it must not hand in for that step again. When it is back it finds that it has `part`
  in the generation already: if the others go on without it, it `join`s in a later step; if not, it has them `disband`. The
  chief then begins the next generation, in which all hand in for the step that is owed, and nothing of before counts.
- The chief. Nobody updates until it is back. Then it begins a generation, as above. If it was cut off in the middle of an
  update, some variables may be a step ahead of others, which `WholeUpdates` knows of: then they have to be restored.
- A parameter server. All sessions end. The chief restores what it has to, and begins a generation.

A generation is disbanded by a vote, so between two updates and never within one. Nobody waits for somebody who may be gone:
no mark is a lock, and each may be written twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.scopes import control_dependencies, device
from tfexp.ops import state
from tfexp.ops.cast import cast
from tfexp.ops.comparison import equal
from tfexp.ops.scatter import scatter_update
from tfexp.ops.variables import Variable

__all__ = ["OVER", "Generations", "of_round", "step_of_round"]

_STEPS = 1 << 40
"""More steps than any generation has."""
OVER = 1 << 62
"""The round of a token that says that there are no more steps."""


def step_of_round(number: int) -> int:
    return number % _STEPS


def of_round(number: int) -> int:
    """The generation."""
    return number // _STEPS


class Generations:
    """The marks of `replicas`, and the nodes that change them; `replica` is the number of the one whose graph this is.

    - `exist`: whether there are marks; `make` makes them
    - `look`: (the generation, whether a session of this replica has part in it, whether the training is over, the step)
    - `join`: this replica takes part, from the round on that it gives
    - `end`: the training is over, whoever comes
    """

    def __init__(self, global_step: Any, replicas: int, replica: int):
        self._global_step = global_step

        def mark(value: Any, name: str) -> Any:
            return Variable(value, trainable=False, collections=[], name=name)

        with device(global_step.device):
            number, over = mark(np.int64(0), "generation"), mark(False, "over")
            joined = mark(np.full(replicas, -1, np.int64), "joined")
            self._number, self._over = number, over
            self.exist = state.is_variable_initialized(number._ref())
            with control_dependencies([over.initializer, joined.initializer]):
                self.make = state.assign(number._ref(), np.int64(0)).op
            self.look = number, equal(joined[replica], number), over, global_step
            self.end = state.assign(over._ref(), True).op
            # The generation is read before the step and before it is written down: if the chief begins another one
            # meanwhile, this round is one of the former.
            current = number.read_value()
            with control_dependencies([current]):
                written = scatter_update(joined._ref(), [replica], [current])
            with control_dependencies([written]):
                self.join = current * _STEPS + self._step()

    def _step(self) -> Any:
        return cast(self._global_step.read_value(), dtypes.int64)

    @property
    def round(self) -> Any:
        """A node that reads the round, int64."""
        return self._number.read_value() * _STEPS + self._step()

    @property
    def last_round(self) -> Any:
        """A node that reads the last round that this generation could have."""
        return (self._number.read_value() + 1) * _STEPS - 1

    def next(self) -> Any:
        """A node that begins the next generation; its value is the first round."""
        with device(self._global_step.device):
            began = state.assign_add(self._number._ref(), np.int64(1)).op
            with control_dependencies([began, state.assign(self._over._ref(), False).op]):
                return self.round
