"""The simulation beside real clusters of this machine: what it says of several workers that was only measured with one."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Sequence

from experiments.saturation.costs import Costs, Network
from experiments.saturation.measured import Processes, costs_of
from experiments.saturation.scaling import on_one, scaled
from experiments.saturation.training import Model, Rule

__all__ = ["Check", "MODELS", "checks"]

MODELS = {
    "4 MB, little to compute": Model(4, 500, 500, 8),
    "1 MB, much to compute": Model(4, 256, 256, 256),
    "next to nothing": Model(4, 1, 1, 1),
}


@dataclasses.dataclass(frozen=True)
class Check:
    """A training with so many workers. In gradients a second: `measured`, and `simulated` on what was `left` of the cores by
    others; in seconds of a core for one of them: what `computed` says of both, measured first.
    """

    model: str
    rule: str
    workers: int
    measured: float
    simulated: float
    left: float
    computed: tuple[float, float]

    @property
    def error(self) -> float:
        return self.simulated / self.measured - 1


def checks(
    running: Processes, counts: Sequence[int], seconds: float, rounds: int
) -> Iterator[tuple[str, Costs, Network] | Check]:
    """First of each model and rule its costs, then a check for each count of workers."""
    cores = len(os.sched_getaffinity(0))
    for name, model in MODELS.items():
        for rule in (Rule(), Rule("sync"), Rule("sync", spare=1)):
            if not rule.spare:
                costs, network = costs_of(running, model, rule, seconds, rounds)
                yield f"{name}, {rule}", costs, network
            for workers in counts:
                if workers > rule.spare:
                    yield _check(running, name, rule, workers, (costs, network), cores, seconds, rounds)


def _check(
    running: Processes,
    name: str,
    rule: Rule,
    workers: int,
    cost: tuple[Costs, Network],
    cores: int,
    seconds: float,
    rounds: int,
) -> Check:
    model = MODELS[name]
    found = running.measure(model, rule, 1, workers, seconds, rounds)
    with scaled(model, rule, 1, workers, on_one(cores)) as training:
        reached = training.measure(*cost)
    needs = reached.cores * cores  # cores that it has busy
    simulated = reached.gradients * min(1.0, found.left / needs)
    computed = (found.servers + found.workers, needs / reached.gradients)
    return Check(name, str(rule), workers, found.gradients, simulated, found.left, computed)
