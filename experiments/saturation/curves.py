"""What is simulated: curves over the number of workers, and where a parameter server saturates on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.saturation.costs import Costs, Network
from experiments.saturation.scaling import Layout, Reached, apart, grouped, scaled
from experiments.saturation.training import Model, Rule

__all__ = ["Curve", "Scene", "curves", "saturates_at"]

FULL = 0.95
"""How busy the busiest part of a server is that is called saturated."""
_SPREAD = 0.3


@dataclass(frozen=True)
class Scene:
    """A cluster that is not there: `megabytes` of parameters, `compute` seconds of a worker for a batch's gradients, on
    machines with so many cores. `costs` by rule are those that were measured; `most` workers at most.
    """

    megabytes: float
    compute: float
    network: Network
    cores: int
    most: int
    costs: dict[str, Costs]

    @property
    def workers(self) -> list[int]:
        return [1 << i for i in range(self.most.bit_length())]

    def model(self, servers: int, sparse: bool = False) -> Model:
        """Each server has one piece. Of a sparse one, a hundredth travels."""
        rows, columns = 100, round(self.megabytes * 1e6 / 4 / servers / 100)
        return Model(servers, rows, columns, 1, sparse)

    def costs_of(self, rule: Rule, workers: int, *, spread: float = 0.0, divided: bool = False) -> Costs:
        compute = self.compute / workers if divided else self.compute
        return dataclasses.replace(self.costs[rule.update], compute=compute, spread=spread)


@dataclass
class Curve:
    """Figures by the number of workers. `group`: the picture that it is in."""

    group: str
    name: str
    servers: int
    workers: list[int] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)

    def speedup(self) -> list[float]:
        return [one.gradients / self.reached[0].gradients for one in self.reached]

    def at(self, workers: int) -> Reached:
        return self.reached[self.workers.index(workers)]

    def to_json(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "saturates_at": saturates_at(self), "speedup": self.speedup()}


def saturates_at(curve: Curve) -> float | None:
    """The workers that a server's busiest part would be busy with all the time; None where it never comes so far.

    Below that, what a server has to do rises with the workers: it is read off the busiest point that is not FULL yet.
    """
    if max(one.saturated for one in curve.reached) < FULL:
        return None
    below = [(one.saturated, count) for count, one in zip(curve.workers, curve.reached, strict=True) if one.saturated < FULL]
    if not below:
        return 1.0
    busy, count = max(below)
    return count / busy


def curves(scene: Scene) -> Iterator[tuple[Curve, int]]:
    """Each curve after each of its points, with the number of workers of the next one (0: it is whole)."""
    yield from _each(scene, "servers", {f"{n} ps": (n, Rule(), {}) for n in (1, 2, 4, 8)}, scene.workers)
    rules = {"async": Rule(), "sync": Rule("sync")}
    uneven = {"spread": _SPREAD}
    some = scene.workers[:-2]  # enough to see what they differ in
    yield from _each(scene, "rules", {name: (4, rule, uneven) for name, rule in rules.items()}, some)
    yield from _spare(scene, uneven)
    yield from _each(scene, "divided", {"one batch, divided": (4, Rule("sync"), {"divided": True})}, some)
    lighter: dict[str, dict[str, Any]] = {"dense": {}, "dense, 16 bits": {"bits": 16}, "sparse": {"sparse": True}}
    yield from _each(scene, "models", {name: (1, Rule(), how) for name, how in lighter.items()}, scene.workers)
    for group, share in (("layout", 1.0), ("layout, a tenth to compute", 0.1)):
        places = {f"on {n} machine{'s' * (n > 1)}": grouped(n, scene.cores) for n in (1, 2, 4, 8)}
        places["each on its own"] = apart(scene.cores)
        layouts = {f"8 ps and 8 workers, {name}": (8, Rule(), {"layout": place}) for name, place in places.items()}
        yield from _each(dataclasses.replace(scene, compute=share * scene.compute), group, layouts, [8])


def _each(
    scene: Scene, group: str, settings: dict[str, tuple[int, Rule, dict[str, Any]]], workers: Sequence[int]
) -> Iterator[tuple[Curve, int]]:
    for name, (servers, rule, how) in settings.items():
        curve = Curve(group, name, servers)
        for number, count in enumerate(workers):
            curve.workers.append(count)
            curve.reached.append(_reached(scene, servers, rule, count, **how))
            yield curve, (*workers[number + 1 :], 0)[0]


def _spare(scene: Scene, how: dict[str, Any]) -> Iterator[tuple[Curve, int]]:
    """A tenth of the workers is spare."""
    curve = Curve("rules", "sync, a tenth spare", 4)
    workers = [count for count in scene.workers[:-2] if count >= _TENTH]
    for number, count in enumerate(workers):
        curve.workers.append(count)
        curve.reached.append(_reached(scene, 4, Rule("sync", spare=max(1, round(count / 10))), count, **how))
        yield curve, (*workers[number + 1 :], 0)[0]


_TENTH = 8  # workers from which about a tenth of them is at least one


def _reached(
    scene: Scene,
    servers: int,
    rule: Rule,
    workers: int,
    *,
    spread: float = 0.0,
    divided: bool = False,
    bits: int = 32,
    sparse: bool = False,
    layout: Layout | None = None,
) -> Reached:
    costs = scene.costs_of(rule, workers, spread=spread, divided=divided)
    with scaled(scene.model(servers, sparse), rule, servers, workers, layout or apart(scene.cores), bits) as training:
        return training.measure(costs, scene.network)
