"""Gradients that come late: made of variables that others have updated meanwhile, as asynchronous replicas' are.

The staleness of a gradient is the number of updates between the variables that it was made of and those that it reaches. It
is measured in the graph, where the global step is: `reading` is the step before the variables are read, and once the
gradients are there the step is read again. With one parameter server this costs no request of its own.

Remedies: a rate that falls with the staleness (Zhang et al. 2016, "Staleness-aware async-SGD for distributed deep learning",
is `damping=1`), and dropping what is too stale. Measured are all gradients, those that are dropped, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.graph.control_flow import cond
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.scopes import control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import identity
from tfexp.ops.array_join import stack
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import minimum
from tfexp.ops.scatter import scatter_nd_add
from tfexp.ops.variables import Variable
from tfexp.train.optimizer import Optimizer

__all__ = ["LONGEST", "StaleGradients"]

LONGEST = 63
"""The longest staleness that is counted by itself; a longer one counts as this."""


class StaleGradients:
    """Measures the gradients of `replicas` replicas that share `global_step`, and weakens or drops the stale ones.

    A gradient that is `staleness` updates late is applied at the learning rate times (1 + staleness) ** -damping; one that
    is more than `drop_above` late (None: none is) is not applied, and makes no step. After each gradient of replica r,
    `tally`, int64 [replicas, LONGEST + 2], has one more at [r, min(staleness, LONGEST)], and `staleness` more at [r, -1].
    `measured[r]` is the staleness of the gradient of a step.
    """

    def __init__(self, global_step: Any, replicas: int, *, drop_above: int | None = None, damping: float = 0.0):
        self._global_step, self._replicas, self._drop_above, self._damping = global_step, replicas, drop_above, damping
        self.tally: Any = None
        self.measured: dict[int, Tensor] = {}
        self._staleness: Tensor | None = None

    def reading(self) -> Tensor:
        """The step of the variables that a gradient is about to be made of. To be built before they are read."""
        # A new value: the step's own buffer would follow later updates.
        return self._global_step + np.int64(0)

    def rate(self, learning_rate: Tensor) -> Tensor | Callable[[], Tensor]:
        """The rate to make the optimizer with: where stale gradients are damped, that of the gradient that is applied."""
        return (lambda: self._damped(learning_rate)) if self._damping else learning_rate

    def apply(self, optimizer: Optimizer, pairs: Iterable[Any], replica: int, reading: Tensor) -> Tensor:
        """The step that the variables are of once these (gradient, variable) pairs of the replica were measured and applied.

        `reading` is what `reading()` gave for them.
        """
        pairs = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if self.tally is None:
            self.tally = self._new_tally()
        with device(self._global_step.device):
            with control_dependencies([part for gradient, _ in pairs for part in _parts(gradient)]):
                arrived = identity(self._global_step)
            self._staleness = self.measured[replica] = staleness = arrived - reading
            columns = stack([minimum(staleness, np.int64(LONGEST)), np.int64(LONGEST + 1)])
            cells = stack([np.full(2, replica, np.int64), columns], axis=1)
            counted = scatter_nd_add(self.tally, cells, stack([np.int64(1), staleness]), use_locking=True)
        if self._drop_above is None:
            step = self._update(optimizer, pairs)
        else:
            with device(self._global_step.device):  # on the worker, the choice would be a detour
                step = cond(
                    staleness <= self._drop_above,
                    lambda: self._update(optimizer, pairs),
                    lambda: identity(self._global_step),
                )
        with device(self._global_step.device), control_dependencies([counted]):
            return identity(step)

    def _new_tally(self) -> Any:
        # Not before the model's variables are there: who places variables in turns places them as without it.
        with device(self._global_step.device), name_scope(""):
            zeros = np.zeros([self._replicas, LONGEST + 2], np.int64)
            return Variable(zeros, trainable=False, collections=[], name="staleness")

    def drops(self, staleness: int) -> bool:
        """Whether such a gradient is not applied."""
        return self._drop_above is not None and staleness > self._drop_above

    def _update(self, optimizer: Optimizer, pairs: list[Any]) -> Tensor:
        updated: Tensor = optimizer.apply_gradients(pairs, self._global_step).outputs[0]
        with device(self._global_step.device):
            return identity(updated)

    def _damped(self, learning_rate: Tensor) -> Tensor:
        assert self._staleness is not None  # an optimizer asks when it applies gradients
        with device(self._global_step.device):
            late = cast(self._staleness, dtypes.float32)
            return learning_rate * (1.0 + late) ** -self._damping


def _parts(gradient: Any) -> list[Tensor]:
    return [gradient.values, gradient.indices] if isinstance(gradient, IndexedSlices) else [gradient]
