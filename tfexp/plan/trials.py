"""Finding a step's placement while it runs: place it, measure some steps, place it again, and keep what was fastest.

The simulation proposes; what is kept is decided by the steps that ran. So the dynamic placer ends with the simple placer's
placement wherever that one was measured and nothing else was faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfexp.plan.dynamic import Placement
from tfexp.plan.measured import makespan

# Steps of a new placement that are not measured: plans are made, buffers and connections are cold.
_WARMING = 1
# Placements that are tried at most.
_MOST = 4

_Key = frozenset[tuple[Any, str]]


class Trials:
    """One step's placements. `propose` is the best by what has been measured so far; `period`: steps to measure of each.

    It begins with the simple placer's, or with what is proposed where costs are `known` already. `placement` is the one to
    run with. `measuring`: whether the next step's statistics are wanted, for `ended`.
    """

    def __init__(
        self,
        propose: Callable[[], Placement],
        learn: Callable[[Any, Placement], None],
        period: int,
        known: bool = False,
    ):
        first = propose()
        self.placement = first if known else first.unmoved()
        self._propose, self._learn = propose, learn
        self._period = period
        self._tried: dict[_Key, tuple[float, Placement]] = {}
        self._begin()
        self._settled = False

    def _begin(self) -> None:
        self._warming, self._took = _WARMING, list[float]()

    @property
    def measuring(self) -> bool:
        return not self._settled

    def ended(self, step_stats: Any) -> bool:
        """Take note of a step that ran with `placement`; whether that is another one now."""
        if self._settled:
            return False
        if self._warming:
            self._warming -= 1
            return False
        self._learn(step_stats, self.placement)
        self._took.append(makespan(step_stats))
        if len(self._took) < self._period:
            return False
        before = _key(self.placement)
        self._tried[before] = min(self._took), self.placement
        self.placement = self._next()
        self._begin()
        return _key(self.placement) != before

    def _next(self) -> Placement:
        proposed = self._propose()
        if _key(proposed) not in self._tried and len(self._tried) < _MOST:
            return proposed
        took, best = min(self._tried.values(), key=lambda tried: tried[0])
        simple = proposed.unmoved()
        if took > simple.estimate and _key(simple) not in self._tried:
            return simple
        self._settled = True
        return best

    def describe(self) -> str:
        """What was estimated and measured of the placement, in words."""
        took = self._tried.get(_key(self.placement))
        measured = "" if took is None else f"; it took {took[0] * 1e3:.2f} ms"
        return (
            f"dynamic placement: {len(self.placement.moved)} nodes moved, a step was estimated at "
            f"{self.placement.estimate * 1e3:.2f} ms ({self.placement.simple_estimate * 1e3:.2f} ms without moves){measured}"
        )


def _key(placement: Placement) -> _Key:
    return frozenset(placement.moved.items())
