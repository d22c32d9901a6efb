"""From settings and data to a TF1 graph that trains."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tfexp as tf
from tfexp.core.device import DeviceName
from tfexp.experiment.confusion import MOST_CLASSES
from tfexp.experiment.course import Course
from tfexp.experiment.datasets.dataset import Dataset
from tfexp.experiment.errors import SettingError
from tfexp.experiment.freezing import Frozen, freeze
from tfexp.experiment.inputs.input import Batches, Share
from tfexp.experiment.models.objectives import confusion
from tfexp.experiment.models.phase import evaluation_feeds
from tfexp.experiment.objective import Objective
from tfexp.experiment.placing import placed_dynamically
from tfexp.experiment.replication import AllReduce
from tfexp.experiment.schema import Balance, Jit, Placer, Settings, WireDtype
from tfexp.experiment.starting import Start, begin_with
from tfexp.experiment.update import Async, Sync
from tfexp.plan import narrow
from tfexp.plan.rewriters import rewriter_of, with_rewriter
from tfexp.runtime.device_list import local_devices
from tfexp.runtime.jit import can_compile, has_numba, with_numba
from tfexp.runtime.libraries import lacks_onednn, with_onednn
from tfexp.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn
from tfexp.train.once_per_step import OncePerStep
from tfexp.train.peers import Peers
from tfexp.train.staleness import StaleGradients
from tfexp.train.whole_updates import WholeUpdates

__all__ = [
    "Copy",
    "Program",
    "Replica",
    "Tower",
    "build",
    "check_data",
    "complete",
    "copy_of",
    "learning",
    "own_device",
    "replica_of",
    "session_config",
    "share_of",
    "stale_gradients",
]


@dataclass(frozen=True)
class Program:
    """The graph and what the runner fetches from it and feeds to it.

    `batches` brings what `train` trains on into `features` and `labels`, which can be fed any number of rows.
    `objective` is the loss with its regularization, `evaluating` what an evaluation feeds beside its rows, `confusion` how
    many of them, by class, were taken for each class; None: no classes are chosen, or too many to look at. `train` is one
    optimizer step which adds one to `global_step`, and `loss` the objective of all that the step trains on. What `train`
    gives is the step that the variables are of after it. `others` are copies of the model that train by themselves, with
    the same variables. `sync` is how several processes make a step together on parameter servers, `peers` how they do it
    without; None: they do not. `stale` measures how late
    gradients are; None: none can be. `summaries` is None if there are none. `ready` gives the names of the variables
    without a value; only a graph that shares them with others has it. `updates` knows whether an update was cut off, where
    that may be. `variables` are all variables in the order of their names, `trained` the names of those that are trained.
    `start` is what the model's begin with; None: each with its own initial value. `frozen` are those of the model's that
    are not trained by the run's own choice; None: there is no such choice.
    """

    graph: tf.Graph
    batches: Batches
    features: tf.Tensor
    labels: tf.Tensor
    objective: tf.Tensor
    loss: tf.Tensor
    evaluating: dict[Any, Any]
    metrics: dict[str, tf.Tensor]
    confusion: tf.Tensor | None
    learning_rate: tf.Tensor
    global_step: tf.Variable
    train: tf.Tensor
    initialize: tf.Operation
    summaries: tf.Tensor | None
    ready: tf.Tensor | None
    saver: tf.train.Saver
    variables: tuple[Any, ...]  # tf.Variable, whose class is chosen as it is made
    trained: tuple[str, ...]
    others: tuple[Tower, ...] = ()
    sync: OncePerStep | None = None
    peers: Peers | None = None
    stale: StaleGradients | None = None
    updates: WholeUpdates | None = None
    start: Start | None = None
    frozen: Frozen | None = None


@dataclass(frozen=True)
class Tower:
    """A copy of the model that trains by itself: as `Program` says."""

    batches: Batches
    train: tf.Tensor
    loss: tf.Tensor


@dataclass(frozen=True)
class Copy:
    """The model on one share of the data."""

    batches: Batches
    objective: Objective
    metrics: dict[str, tf.Tensor]
    confusion: tf.Tensor | None = None
    start: Start | None = None
    frozen: Frozen | None = None


def build(settings: Settings, dataset: Dataset, replica: Replica | None = None) -> Program:
    """A fresh graph; its ops carry the scopes input, model, loss, metrics, train and summaries.

    `replica` is the worker, of several that share the variables, that trains with the graph; None: the only process.
    """
    check_data(settings, dataset)
    graph = tf.Graph()
    with graph.as_default(), graph.device(_one_device(settings) if replica is None else replica.placement):
        tf.set_random_seed(settings.train.seed)
        tf.train.get_or_create_global_step()  # which a model's random numbers follow
        stale = None if replica is None else stale_gradients(settings)
        reading: Any = None if stale is None else stale.reading()
        copy = copy_of(settings, share_of(settings, dataset, replica))
        with tf.name_scope("train"):
            global_step, learning_rate, optimizer = learning(settings, copy.objective, stale)
            sync = peers = None
            loss = copy.objective.value
            if isinstance(settings.replication, AllReduce):
                assert replica is not None  # there are other workers
                peers = Peers(replica.worker, settings.copies)
            elif isinstance(settings.update, Sync):
                assert replica is not None  # one process has nobody to make steps with
                copies = settings.copies
                sync = OncePerStep(optimizer, copies - settings.update.spare, copies, replica.worker)
            gradients = copy.objective.gradients(sync or optimizer)
            if peers is not None:
                gradients, loss = peers.means(gradients), peers.mean(loss)
            train: Any
            if stale is not None and replica is not None:
                train = stale.apply(optimizer, gradients, replica.worker, reading)
            else:
                train = (sync or optimizer).apply_gradients(gradients, global_step=global_step)
            if peers is not None:
                peers.share_variables(tf.global_variables())
        program = complete(
            settings,
            copy,
            copy.batches,
            loss,
            learning_rate,
            # with `sync` or `stale`, it is the replica's own copy of the step
            train if isinstance(train, tf.Tensor) else train.outputs[0],
            shared=replica is not None,
            sync=sync,
            peers=peers,
            stale=stale,
            updates=None if sync is None else sync.updates,
        )
    graph.finalize()
    return program


def check_data(settings: Settings, dataset: Dataset) -> None:
    """Raises ExperimentError for data that the model cannot learn."""
    settings.model.check(dataset.spec)
    for part in (dataset.train, dataset.test):
        settings.model.check_rows(part.features, dataset.spec)


def copy_of(settings: Settings, share: Share, *, again: bool = False) -> Copy:
    """The model in the default graph; with `again`, on the variables that an earlier copy made."""
    spec = share.spec
    with tf.name_scope("input"):
        batches = settings.input.batches(share)
        features, labels = batches.features, batches.labels
    with tf.variable_scope("model", reuse=True if again else None, partitioner=_partitioner(settings)):
        outputs = settings.model.outputs(features, spec)
    frozen = freeze(settings.train.freeze, "model/")
    start = None
    if settings.train.start_from is not None and not again:
        with tf.name_scope("start"):
            start = begin_with(settings.train.start_from, "model/")
    with tf.name_scope("loss"):
        objective = Objective.of(settings.model.loss(outputs, labels, spec))
    with tf.name_scope("metrics"):
        metrics = settings.model.metrics(outputs, labels, spec)
        counts = None
        if spec.classes is not None and spec.classes <= MOST_CLASSES:
            with tf.name_scope("confusion"):
                chosen = settings.model.chosen(outputs, spec)
                counts = None if chosen is None else confusion(chosen, labels, spec.classes)
    return Copy(batches, objective, metrics, counts, start, frozen)


def stale_gradients(settings: Settings) -> StaleGradients | None:
    """Of the default graph's global step; None where no gradient can be late."""
    update = settings.update
    if not isinstance(update, Async) or settings.copies == 1:
        return None
    step, rule = tf.train.get_or_create_global_step(), update.staleness
    return StaleGradients(step, settings.copies, drop_above=rule.drop_above, damping=rule.damping)


def _partitioner(settings: Settings) -> Any:
    """What cuts large variables into as many pieces as there are parameter servers; None where nothing is cut."""
    cluster = settings.cluster
    if cluster.shard_above is None or cluster.ps_count < 2:
        return None
    least = max(cluster.shard_above // cluster.ps_count, 1)
    return tf.min_max_variable_partitioner(max_partitions=cluster.ps_count, min_slice_size=least)


def learning(
    settings: Settings, objective: Objective, stale: StaleGradients | None = None
) -> tuple[tf.Variable, tf.Tensor, tf.train.Optimizer]:
    """The global step, the learning rate at it, and the optimizer of `objective` with that rate, or with what `stale` makes
    of it.
    """
    global_step = tf.train.get_or_create_global_step()
    start = settings.optimizer.learning_rate
    learning_rate = tf.convert_to_tensor(settings.schedule.rate(start, global_step), dtype=tf.float32, name="learning_rate")
    rate = learning_rate if stale is None else stale.rate(learning_rate)
    return global_step, learning_rate, settings.optimizer.clipping(rate, objective.scopes)


def complete(
    settings: Settings,
    copy: Copy,
    batches: Batches,
    loss: tf.Tensor,
    learning_rate: tf.Tensor,
    train: tf.Tensor,
    *,
    shared: bool,
    others: tuple[Tower, ...] = (),
    sync: OncePerStep | None = None,
    peers: Peers | None = None,
    stale: StaleGradients | None = None,
    updates: WholeUpdates | None = None,
) -> Program:
    """The default graph's program, with what the runner needs beside `train`; `copy` is what is evaluated.

    `shared`: other sessions make or see its variables, too.
    """
    needed = [*tf.global_variables(), *([] if stale is None else [stale.tally])]
    return Program(
        graph=tf.get_default_graph(),
        batches=batches,
        features=copy.batches.features,
        labels=copy.batches.labels,
        objective=copy.objective.value,
        loss=loss,
        evaluating=evaluation_feeds(tf.get_default_graph()),
        metrics=copy.metrics,
        confusion=copy.confusion,
        learning_rate=learning_rate,
        global_step=tf.train.get_global_step(),
        train=train,
        initialize=tf.global_variables_initializer(),
        summaries=_summaries(copy.objective.value) if settings.train.summary_every else None,
        ready=tf.report_uninitialized_variables(needed) if shared else None,
        # relative paths: a run's folder may be moved
        saver=tf.train.Saver(
            [*tf.global_variables(), *batches.saved],
            max_to_keep=settings.train.keep_checkpoints,
            save_relative_paths=True,
        ),
        variables=tuple(sorted(tf.global_variables(), key=lambda variable: variable.op.name)),
        trained=tuple(variable.op.name for variable in tf.trainable_variables()),
        others=others,
        sync=sync,
        peers=peers,
        stale=stale,
        updates=updates,
        start=copy.start,
        frozen=copy.frozen,
    )


@dataclass(frozen=True)
class Replica:
    """Worker number `worker`: its own device, and where its graph's nodes are: there, but for what servers have."""

    worker: int
    device: str
    placement: str | Callable[[Any], str]


def replica_of(settings: Settings, cluster: tf.train.ClusterSpec, worker: int) -> Replica:
    """Worker number `worker`: variables to the parameter servers, if there are any; the rest to its own device."""
    if settings.device.placement is Placer.dynamic:
        raise SettingError("device.placement", "with workers, replica_device_setter says where things are: leave it simple")
    own = own_device(settings)
    device = DeviceName("worker", None, worker, own.device_type, own.device_index)
    if isinstance(settings.replication, AllReduce):
        return Replica(worker, str(device), str(device))
    servers = settings.cluster.ps_count
    strategy = GreedyLoadBalancingStrategy(servers, byte_size_load_fn) if settings.cluster.balance is Balance.bytes else None
    setter = tf.train.replica_device_setter(
        cluster=cluster, ps_device="/job:ps/cpu:0", worker_device=str(device), ps_strategy=strategy
    )
    assert setter is not None  # there are parameter servers
    return Replica(worker, str(device), setter)


def own_device(settings: Settings) -> DeviceName:
    """`device.name`, which must not say of which task."""
    own = _device_name(settings.device.name)
    if own != DeviceName(device_type=own.device_type, device_index=own.device_index):
        raise SettingError("device.name", f"'{settings.device.name}' names a task: with workers, each has its own")
    return own


def share_of(settings: Settings, dataset: Dataset, replica: Replica | None) -> Share:
    size, seed = Course.of(settings, dataset).batch_size, settings.train.seed
    if replica is None:
        return Share(dataset, size, seed)
    copies, together = settings.copies, settings.update.together
    rows = size // copies if together else size
    return Share(dataset, rows, seed, replica.worker, copies, replica.device, together)


def _one_device(settings: Settings) -> str:
    """The only process's device, or "" for what the dynamic placer places. SettingError if there is none of that name."""
    if settings.device.placement is Placer.dynamic:
        return ""
    wanted = _device_name(settings.device.name)
    there = [DeviceName.parse(name) for name in local_devices(session_config(settings))]
    if not settings.device.soft_placement and not any(_is(device, wanted) for device in there):
        names = ", ".join(f"/{str(device.device_type).lower()}:{device.device_index}" for device in there)
        raise SettingError(
            "device.name",
            f"there is no '{settings.device.name}' here, only {names}: give one of them, or device.soft_placement=true to "
            "run on it what has no other device",
        )
    return settings.device.name


def _is(device: DeviceName, wanted: DeviceName) -> bool:
    """Whether `device` is one that the name, which may say only a part, means."""
    parts = dataclasses.asdict(wanted)
    return all(value in (None, getattr(device, part)) for part, value in parts.items())


def _device_name(name: str) -> DeviceName:
    try:
        return DeviceName.parse(name)
    except ValueError as error:
        raise SettingError("device.name", f"'{name}' is not a device's name such as /cpu:0: {error}") from error


def _summaries(objective: tf.Tensor) -> Any:
    """The batch's loss, and how each trained variable's values are distributed."""
    with tf.name_scope("summaries"):
        tf.summary.scalar("batch_loss", objective)
        for variable in tf.trainable_variables():
            tf.summary.histogram(variable.op.name, variable)
        return tf.summary.merge_all()


def session_config(settings: Settings) -> tf.ConfigProto:
    """What the settings say to a session."""
    if settings.device.jit is Jit.xla and not can_compile():
        raise SettingError("device.jit", "compiling by XLA needs JAX: pip install 'tfexp[xla]'")
    if settings.device.jit is Jit.numba and not has_numba():
        raise SettingError("device.jit", "compiling by Numba needs Numba: pip install 'tfexp[jit]'")
    if settings.device.onednn and (lack := lacks_onednn()) is not None:
        raise SettingError("device.onednn", lack)
    device, towers = settings.device, 0 if settings.cluster.tasks else settings.copies
    config = tf.ConfigProto(
        device_count={own_device(settings).device_type or "CPU": towers} if towers > 1 else None,
        intra_op_parallelism_threads=device.intra_op_threads,
        inter_op_parallelism_threads=device.inter_op_threads,
        allow_soft_placement=device.soft_placement,
        log_device_placement=device.log_placement,
        graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(global_jit_level=int(device.jit is Jit.xla))),
    )
    if settings.cluster.wire_dtype is not WireDtype.float32:
        config = with_rewriter(config, narrow.NAME)
        rewriter_of(config, narrow.NAME).parameter_map["dtype"].type = tf.as_dtype(
            settings.cluster.wire_dtype.value
        ).as_datatype_enum
    if device.jit is Jit.numba:
        config = with_numba(config)
    if device.onednn:
        config = with_onednn(config)
    return placed_dynamically(config, device) if device.placement is Placer.dynamic else config
