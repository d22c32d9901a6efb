"""The dynamic placer of a session, as its ConfigProto asks for it.

`ConfigProto.placement_period=n` turns it on: what is placed is measured for n steps, then placed again, until nothing gets
faster. Costs that are known from other steps go with the ConfigProto, too (`with_step_stats`): they are the parameter
`step_stats` of the custom optimizer `dynamic_placer`, so that they get to a cluster's masters as everything else does. A
traced step tells in `RunMetadata.cost_graph` what was expected of it (`estimates`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorboard.compat.proto import step_stats_pb2

from tfexp.core.errors import InvalidArgumentError
from tfexp.plan.assign import Assignment
from tfexp.plan.rewriters import rewriter_of, with_rewriter
from tfexp.runtime.cpu import step_threads

if TYPE_CHECKING:
    from tfexp.plan.dynamic import DynamicPlacer, Placement

NAME = "dynamic_placer"
_STEP_STATS = "step_stats"
# What the costs of a whole step in `RunMetadata.cost_graph` are called.
_ESTIMATED, _UNMOVED = "estimated seconds", "estimated seconds without moves"


def with_step_stats(config: Any, step_stats: Any) -> Any:
    """A copy of the ConfigProto, with which the dynamic placer starts from these measurements (`RunMetadata.step_stats`)."""
    changed = with_rewriter(config, NAME)
    rewriter_of(changed, NAME).parameter_map[_STEP_STATS].s = step_stats.SerializeToString()
    return changed


def dynamic_placer(assignment: Assignment, config: Any, memory: Mapping[str, int]) -> DynamicPlacer | None:
    """The placer that a ConfigProto asks for; None for the simple one. `memory`: bytes, by device."""
    if config.placement_period <= 0:
        return None
    from tfexp.plan.dynamic import DynamicPlacer

    placer = DynamicPlacer(assignment, step_threads(config), memory)
    told = rewriter_of(config, NAME)
    if told is not None and _STEP_STATS in told.parameter_map:
        try:
            known = step_stats_pb2.StepStats.FromString(told.parameter_map[_STEP_STATS].s)
        except Exception as error:
            raise InvalidArgumentError(None, None, f"{NAME}: {_STEP_STATS} are no StepStats: {error}") from None
        placer.measured.learn(known)
    return placer


def record_estimate(run_metadata: Any, placement: Placement) -> None:
    """Put what the placer expected of a step into `RunMetadata.cost_graph`: of the step, and of each of its nodes."""
    graph = run_metadata.cost_graph
    graph.cost.add(cost=placement.estimate, dimension=_ESTIMATED)
    graph.cost.add(cost=placement.simple_estimate, dimension=_UNMOVED)
    devices = {op.name: device for op, device in placement.moved.items()}
    for number, (name, seconds) in enumerate(placement.costs.seconds.items()):
        graph.node.add(name=name, id=number, device=devices.get(name, ""), compute_cost=round(seconds * 1e6))


def estimates(run_metadata: Any) -> dict[str, float]:
    """Seconds that a step was estimated at: `estimated`, and `without_moves`. Empty where nobody estimated it."""
    names = {_ESTIMATED: "estimated", _UNMOVED: "without_moves"}
    return {names[cost.dimension]: cost.cost for cost in run_metadata.cost_graph.cost if cost.dimension in names}
