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
_WARMING = 2
# Rounds of measuring at most.
_MOST = 5
# A placement that was slower than another one, but is still simulated to take no more than this part of the simple one's
# time, is measured once more: other programs take the processor, too.
_PROMISING = 0.9

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
        self._rounds = 0
        self._settled = False
        self._begin()

    def _begin(self) -> None:
        self._warming, self._took = _WARMING, list[float]()

    @property
    def measuring(self) -> bool:
        return not self._settled

    def stop(self) -> None:
        """Measure no more; the placement stays as it is."""
        self._settled = True

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
        took = min([*self._took, self._tried[before][0]] if before in self._tried else self._took)
        self._tried[before] = took, self.placement
        self._rounds += 1
        self.placement = self._next()
        self._begin()
        return _key(self.placement) != before

    def _next(self) -> Placement:
        proposed = self._propose()
        simple = proposed.unmoved()
        took, best = min(self._tried.values(), key=lambda tried: tried[0])
        if self._rounds < _MOST:
            if _key(proposed) not in self._tried:
                return proposed
            if _key(proposed) != _key(best) and proposed.estimate < _PROMISING * simple.estimate:
                return proposed
            if _key(simple) not in self._tried and simple.estimate < took:
                return simple
        self._settled = True
        return {_key(p): p for p in (proposed, simple)}.get(_key(best), best)  # with what is known by now

    def describe(self) -> str:
        """What was estimated and measured of the placement, in words."""
        took = self._tried.get(_key(self.placement))
        return self.placement.describe() + ("" if took is None else f"; it took {took[0] * 1e3:.2f} ms")


def _key(placement: Placement) -> _Key:
    return frozenset(placement.moved.items())
