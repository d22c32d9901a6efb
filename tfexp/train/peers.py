"""Workers that have all variables each and make every step together, by collective ops: `replication=all_reduce`.

Each builds the same graph, but for its own device and for who broadcasts: what belongs together is made in the same order,
and so has the same instance key everywhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import IndexedSlices
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import name_scope
from tfexp.ops.array_identity import placeholder
from tfexp.ops.collective import all_gather, all_reduce, broadcast_recv, broadcast_send

__all__ = ["Peers"]

_GROUP_KEY = 1


class Peers:
    """What the graph of worker number `rank`, of `size`, does with those of the others. Number 0 is the chief.

    `goes_on`, bool [], is what the chief feeds to `go_on`, which is None elsewhere. `share`, which `share_variables` makes,
    gives all workers the values that the chief's variables have.
    """

    def __init__(self, rank: int, size: int):
        self._rank, self._size = rank, size
        self._instances = itertools.count(1)
        self.share: Any = None
        with name_scope("goes_on"):
            self.go_on = placeholder(dtypes.bool, [], name="go_on") if rank == 0 else None
            self.goes_on = self._of_chief(self.go_on, [], dtypes.bool)

    def mean(self, value: Any) -> Any:
        """The mean of what the workers have as `value`, all of the same shape: a tensor or IndexedSlices."""
        if isinstance(value, IndexedSlices):
            rows, indices = (all_gather(part, *self._new_keys()) for part in (value.values, value.indices))
            return IndexedSlices(rows / self._size, indices, value.dense_shape)
        return all_reduce(value, *self._new_keys(), "Add", "Div")

    def means(self, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        """(gradient, variable) pairs with the workers' means; a variable without a gradient has none on any of them."""
        with name_scope("means"):
            return [(gradient if gradient is None else self.mean(gradient), variable) for gradient, variable in pairs]

    def share_variables(self, variables: Iterable[Any]) -> None:
        shared = []
        with name_scope("share"):
            for variable in variables:
                value = self._of_chief(variable, variable.shape, variable.dtype.base_dtype)
                shared.append(value if self._rank == 0 else variable.assign(value))
        self.share = group(*shared)

    def _of_chief(self, value: Any, shape: Any, dtype: Any) -> Any:
        if self._rank == 0:
            return broadcast_send(value, shape, dtype, *self._new_keys())
        return broadcast_recv(shape, dtype, *self._new_keys())

    def _new_keys(self) -> tuple[int, int, int]:
        """Group size, group key and instance key of a new op."""
        return self._size, _GROUP_KEY, next(self._instances)
