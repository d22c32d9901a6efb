"""The dynamic placer of a session, as its ConfigProto asks for it.

`ConfigProto.placement_period=n` turns it on: what is placed is measured for n steps, then placed again, until nothing gets
faster. Costs that are known from other steps go with the ConfigProto, too (`with_step_stats`): they are the parameter
`step_stats` of the custom optimizer `dynamic_placer`, so that they get to a cluster's masters as everything else does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto import config_pb2, step_stats_pb2

from tfexp.core.errors import InvalidArgumentError
from tfexp.plan.assign import Assignment
from tfexp.plan.dynamic import DynamicPlacer
from tfexp.runtime.cpu import step_threads

NAME = "dynamic_placer"
_STEP_STATS = "step_stats"


def with_step_stats(config: Any, step_stats: Any) -> Any:
    """A copy of the ConfigProto, with which the dynamic placer starts from these measurements (`RunMetadata.step_stats`)."""
    changed = config_pb2.ConfigProto()
    changed.CopyFrom(config)
    optimizers = changed.graph_options.rewrite_options.custom_optimizers
    mine = next((o for o in optimizers if o.name == NAME), None) or optimizers.add(name=NAME)
    mine.parameter_map[_STEP_STATS].s = step_stats.SerializeToString()
    return changed


def dynamic_placer(assignment: Assignment, config: Any, memory: Mapping[str, int]) -> DynamicPlacer | None:
    """The placer that a ConfigProto asks for; None for the simple one. `memory`: bytes, by device."""
    if config.placement_period <= 0:
        return None
    placer = DynamicPlacer(assignment, step_threads(config), memory)
    for optimizer in config.graph_options.rewrite_options.custom_optimizers:
        if optimizer.name == NAME and _STEP_STATS in optimizer.parameter_map:
            try:
                known = step_stats_pb2.StepStats.FromString(optimizer.parameter_map[_STEP_STATS].s)
            except Exception as error:
                raise InvalidArgumentError(None, None, f"{NAME}: {_STEP_STATS} are no StepStats: {error}") from None
            placer.measured.learn(known)
    return placer
