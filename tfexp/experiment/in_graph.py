"""`replication=in_graph`: one graph with a copy of the model ("tower") for each worker, driven by one client.

The first tower makes the variables, on the parameter servers (without a cluster: on the first device); the others use
them. With `update=sync` one step runs all towers, each on its part of the batch, and applies the mean of their gradients
once; with `update=async` each has a train op of its own, and the client a thread for each.

A session has all tasks in it, so it ends when one of them is lost, and the client goes on in a new one. What a tower owes
to a synchronous step is then not there, so no variable is changed before all gradients are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import tfexp as tf
from tfexp.core.device import DeviceName
from tfexp.experiment.build import (
    Copy,
    Program,
    Replica,
    Tower,
    build,
    check_data,
    complete,
    copy_of,
    learning,
    own_device,
    replica_of,
    share_of,
    stale_gradients,
)
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.inputs.input import Batches
from tfexp.experiment.replication import InGraph
from tfexp.experiment.schema import Settings
from tfexp.train.staleness import StaleGradients
from tfexp.train.whole_updates import WholeUpdates

__all__ = ["program_of"]


def program_of(settings: Settings, dataset: Dataset, cluster: tf.train.ClusterSpec | None, worker: int = 0) -> Program:
    """The graph with which the worker of that number trains; None: with which this process does, without a cluster."""
    if not isinstance(settings.replication, InGraph):
        return build(settings, dataset, None if cluster is None else replica_of(settings, cluster, worker))
    numbers = range(settings.copies)
    if cluster is not None:
        towers = [replica_of(settings, cluster, number) for number in numbers]
    else:
        towers = [_of_this_process(settings, number) for number in numbers]
    return _build(settings, dataset, towers, shared=cluster is not None)


def _of_this_process(settings: Settings, number: int) -> Replica:
    """A tower on a device of its own, whose variables are on the first one."""
    kind = own_device(settings).device_type or "CPU"
    setter = tf.train.replica_device_setter(1, f"/device:{kind}:0", f"/device:{kind}:{number}")
    assert setter is not None  # there is a "parameter server"
    return Replica(number, str(DeviceName(device_type=kind, device_index=number)), setter)


def _build(settings: Settings, dataset: Dataset, towers: list[Replica], *, shared: bool) -> Program:
    check_data(settings, dataset)
    graph, first = tf.Graph(), towers[0].placement
    with graph.as_default():
        tf.set_random_seed(settings.train.seed)
        with graph.device(first):
            tf.train.get_or_create_global_step()  # which a model's random numbers follow
            stale = stale_gradients(settings)
        copies: list[Copy] = []
        readings: list[Any] = []
        for tower in towers:
            with graph.device(tower.placement), tf.name_scope(f"tower_{tower.worker}"):
                readings.append(None if stale is None else stale.reading())
                copies.append(copy_of(settings, share_of(settings, dataset, tower), again=tower.worker > 0))
        with graph.device(first), tf.name_scope("train"):
            _, learning_rate, optimizer = learning(settings, copies[0].objective, stale)
        batches: Batches
        others: tuple[Tower, ...] = ()
        updates = None
        if settings.update.together:
            loss, train, updates = _one_update(towers, copies, optimizer, shared)
            batches = _Together(copies)
        else:
            train, *trains = _own_updates(towers, copies, readings, optimizer, stale)
            loss, batches = copies[0].objective.value, _All(copies)
            pairs = zip(copies[1:], trains, strict=True)
            others = tuple(Tower(copy.batches, own, copy.objective.value) for copy, own in pairs)
        with graph.device(first):
            program = complete(
                settings,
                copies[0],
                batches,
                loss,
                learning_rate,
                train,
                shared=shared,
                others=others,
                stale=stale,
                updates=updates,
            )
    graph.finalize()
    return program


def _one_update(
    towers: list[Replica], copies: list[Copy], optimizer: tf.train.Optimizer, shared: bool
) -> tuple[tf.Tensor, tf.Tensor, WholeUpdates | None]:
    """Of all towers: the mean loss, the step after it, and what knows whether it was cut off, where that may be."""
    pairs = []
    for tower, copy in zip(towers, copies, strict=True):
        with _training(tower):
            pairs.append(copy.objective.gradients(optimizer, f"tower_{tower.worker}/"))
    global_step = tf.train.get_global_step()
    with tf.device(towers[0].placement), tf.name_scope("train/"):
        loss = tf.add_n([copy.objective.value for copy in copies]) / len(copies)
        means = _means(pairs)
        updates = WholeUpdates(global_step) if shared else None
        with tf.control_dependencies([] if updates is None else [_begun(updates, means)]):
            train = optimizer.apply_gradients(means, global_step=global_step).outputs[0]
    return loss, train, updates


def _own_updates(
    towers: list[Replica],
    copies: list[Copy],
    readings: list[Any],
    optimizer: tf.train.Optimizer,
    stale: StaleGradients | None,
) -> list[tf.Tensor]:
    """Of each tower: the step after its update."""
    trains = []
    for tower, copy, reading in zip(towers, copies, readings, strict=True):
        with _training(tower):
            gradients = copy.objective.gradients(optimizer, f"tower_{tower.worker}/")
            if stale is not None:
                trains.append(stale.apply(optimizer, gradients, tower.worker, reading))
            else:
                update = optimizer.apply_gradients(gradients, global_step=tf.train.get_global_step())
                trains.append(update.outputs[0])
    return trains


@contextlib.contextmanager
def _training(tower: Replica) -> Iterator[None]:
    """Where the nodes are that train a tower."""
    with tf.device(tower.placement), tf.name_scope(f"tower_{tower.worker}/train/"):
        yield


def _means(pairs: list[list[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
    """(the mean of the towers' gradients, variable), made beside the variable."""
    means: list[tuple[Any, Any]] = []
    for of_variable in zip(*pairs, strict=True):
        variable = of_variable[0][1]
        gradients = [gradient for gradient, _ in of_variable]
        if any(gradient is None for gradient in gradients):
            continue
        with tf.device(variable.device), tf.name_scope(f"mean_{variable.op.name.replace('/', '_')}"):
            if any(isinstance(gradient, tf.IndexedSlices) for gradient in gradients):
                values = tf.concat([gradient.values for gradient in gradients], 0) / len(gradients)
                rows = tf.concat([gradient.indices for gradient in gradients], 0)
                means.append((tf.IndexedSlices(values, rows, gradients[0].dense_shape), variable))
            else:
                means.append((tf.add_n(gradients) / len(gradients), variable))
    return means


def _begun(updates: WholeUpdates, means: list[tuple[Any, Any]]) -> Any:
    """The update begins, as all that changes variables is there."""
    parts = [mean.values if isinstance(mean, tf.IndexedSlices) else mean for mean, _ in means]
    with tf.control_dependencies(parts):
        return updates.begin()


class _All(Batches):
    """The batches of all towers, of which the first one's are fed here."""

    def __init__(self, copies: list[Copy]):
        self._parts = [copy.batches for copy in copies]
        self.features, self.labels = self._parts[0].features, self._parts[0].labels
        self.saved = tuple(saved for part in self._parts for saved in part.saved)

    def start(self, session: tf.Session, begin: int) -> None:
        for part in self._parts:
            part.start(session, begin)

    def next_feeds(self) -> dict[Any, Any]:
        return self._parts[0].next_feeds()

    def explain(self, error: tf.errors.OpError) -> ExperimentError | None:
        return next(filter(None, (part.explain(error) for part in self._parts)), None)

    def stop(self) -> None:
        for part in self._parts:
            part.stop()


class _Together(_All):
    """The batches of all towers, of which each has its part of every step."""

    def next_feeds(self) -> dict[Any, Any]:
        feeds: dict[Any, Any] = {}
        for part in self._parts:
            feeds.update(part.next_feeds())
        return feeds
