"""Whether a graph is being built for the replicas of a distribution strategy, and for which of them.

A graph keeps a stack of modes: a strategy's scope is one across its replicas, what a replica's function builds is in that
replica's. `tfexp.distribute` enters them; variables, optimizers, losses and metrics ask. Source: `tf.distribute`, TF 1.15.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfexp.graph.scopes import colocate_with, get_default_graph

# What `tf.losses.Reduction.SUM` is.
SUMMED_LOSSES = "weighted_sum"


@dataclass(frozen=True)
class ReplicaMode:
    """Inside a strategy: in one replica (its context is `replica`), or across all (None).

    `updating`: across replicas, the number of the copy whose update is being built.
    """

    strategy: Any
    replica: Any = None
    updating: int | None = None


def current_mode() -> ReplicaMode | None:
    """The innermost mode of the default graph; None where no strategy was asked for."""
    modes: list[ReplicaMode] = get_default_graph()._replica_modes
    return modes[-1] if modes else None


def distributing() -> ReplicaMode | None:
    """The innermost mode, None also for that of the default strategy, which leaves everything as it is."""
    mode = current_mode()
    return None if mode is None or mode.strategy._is_default else mode


@contextlib.contextmanager
def entered(mode: ReplicaMode) -> Iterator[None]:
    """Build the default graph in that mode."""
    modes = get_default_graph()._replica_modes
    modes.append(mode)
    try:
        yield
    finally:
        modes.pop()


def num_replicas() -> int:
    """How many replicas what is built here is one of."""
    mode = current_mode()
    return 1 if mode is None else int(mode.strategy.num_replicas_in_sync)


def in_another_replica() -> bool:
    """Whether this builds for a replica that is not the first."""
    mode = current_mode()
    return mode is not None and mode.replica is not None and mode.replica._replica_id > 0


def averages_losses() -> bool:
    """Whether the replicas' losses are each one of as many parts of a mean: so an Estimator's are, but for summed ones.

    Elsewhere a replica's loss is its share of the sum.
    """
    mode = distributing()
    return (
        mode is not None
        and mode.strategy._scale_loss_for_estimator
        and get_default_graph()._last_loss_reduction != SUMMED_LOSSES
    )


def across_replicas(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, from a replica once for all: variables among `args` read as what their copies add up to."""
    mode = current_mode()
    if mode is None or mode.replica is None:
        return function(*args)
    return mode.replica.merge_call(lambda strategy, *given: function(*given), args=args)


def beside(variable: Any) -> Any:
    """A context in which new variables lie where `variable` does, with a copy beside each of its copies."""
    mode = distributing()
    return colocate_with(variable) if mode is None else mode.strategy.extended.colocate_vars_with(variable)
