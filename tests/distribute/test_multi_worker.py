"""`MultiWorkerMirroredStrategy` over several workers: what each builds, and that together they are one training."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import cluster_spec, running
from tfexp.distribute import coordinator
from tfexp.train.global_step import global_step_read
from tfexp.train.worker_context import get_current_worker_context

Strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy
SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
CLUSTER = {"worker": ["a:1", "b:1"]}
DRAWS = np.random.RandomState(11)
X, ROWS = DRAWS.randn(24, 3).astype(np.float32), DRAWS.randint(0, 5, 24)
Y = X.sum(1, keepdims=True)


def _strategy(task: int = 0, job: str = "worker", cluster: Any = CLUSTER) -> Any:
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec(cluster), task_type=job, task_id=task
    )
    return Strategy(cluster_resolver=resolver)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(worker=2) as servers:
        yield servers


def _on_all(servers: dict[str, tf.train.Server], work: Callable[[Any, Any, str], Any]) -> list[Any]:
    """`work(number, strategy, target)` of each worker, in a thread and a graph of its own."""

    def run(number: int, server: tf.train.Server) -> Any:
        strategy = _strategy(number, cluster=server._cluster)
        with tf.Graph().as_default(), strategy.scope():
            return work(number, strategy, server.target)

    with ThreadPoolExecutor(len(servers)) as threads:
        runs = [threads.submit(run, number, server) for number, server in enumerate(servers.values())]
        return [run.result(60) for run in runs]


def _session(strategy: Any, target: str) -> tf.Session:
    return tf.Session(target, config=strategy.update_config_proto(tf.ConfigProto(operation_timeout_in_ms=20000)))


def _training(strategy: Any, size: int, seed: int = 1) -> tuple[Any, Any]:
    """A dense and an embedding layer, whose gradient is in rows, trained on batches of 8; the loss, and the iterator."""
    batches = strategy.make_dataset_iterator(tf.data.Dataset.from_tensor_slices((X, ROWS, Y)).repeat().batch(8))

    def step(element: Any) -> Any:
        x, rows, y = element
        table = tf.get_variable("table", [5, 1], initializer=tf.random_normal_initializer(seed=seed))
        kernel = tf.get_variable("kernel", [3, 1], initializer=tf.random_normal_initializer(seed=seed + 1))
        guess = tf.matmul(x, kernel) + tf.nn.embedding_lookup(table, rows)
        loss = tf.reduce_sum(tf.square(guess - y)) / size
        train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.train.get_or_create_global_step())
        with tf.control_dependencies([train]):
            return tf.identity(loss)

    return strategy.reduce(SUM, strategy.experimental_run_v2(step, (batches.get_next(),))), batches


def _trained(strategy: Any, target: str = "", seed: int = 1) -> list[Any]:
    loss, batches = _training(strategy, 8, seed)
    with _session(strategy, target) as session:
        session.run([tf.global_variables_initializer(), batches.initialize()])
        losses = [session.run(loss) for _ in range(4)]
        return [np.array(losses), *session.run([v.value() for v in tf.global_variables()])]


def test_workers_together_train_as_one_with_the_whole_batch(servers):
    # Each worker draws other first values: those of the first one count.
    workers = _on_all(servers, lambda number, strategy, target: _trained(strategy, target, seed=1 + 10 * number))
    for first, second in zip(*workers, strict=True):
        np.testing.assert_array_equal(first, second)
    alone = tf.distribute.OneDeviceStrategy("/cpu:0")
    with tf.Graph().as_default(), alone.scope():
        for value, expected in zip(workers[0], _trained(alone), strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-5)


@pytest.mark.parametrize("task", [0, 1])
def test_what_a_worker_builds(task):
    """As TensorFlow 1.15's workers were seen to."""
    strategy = _strategy(task)
    with tf.Graph().as_default() as graph, strategy.scope():
        _training(strategy, 8)
    nodes = {op.name: op for op in graph.get_operations() if op.type.startswith("Collective")}
    kind = "CollectiveBcastRecv" if task else "CollectiveBcastSend"
    made = ("table", "kernel", "global_step", "table/Momentum", "kernel/Momentum")
    assert {name: op.get_attr("instance_key") for name, op in nodes.items()} == {
        **{f"{name}/Initializer/{kind}": 1000000 + i for i, name in enumerate(made)},
        "allreduce/CollectiveReduce": 100,
        "allreduce_1/CollectiveGather": 101,
        "allreduce_1/CollectiveGather_1": 102,
        "allreduce_2/CollectiveReduce": 103,
    }
    assert {(op.get_attr("group_key"), op.get_attr("group_size")) for op in nodes.values()} == {(1, 2)}
    assert {op.device for op in nodes.values() if "Initializer" not in op.name} == {
        f"/job:worker/replica:0/task:{task}/device:CPU:0"
    }
    with tf.Graph().as_default() as another, strategy.scope():
        _training(strategy, 8)
    assert Counter(op.name for op in another.get_operations()) == Counter(op.name for op in graph.get_operations())
    assert another.get_operation_by_name("allreduce/CollectiveReduce").get_attr("instance_key") == 100


def test_who_does_what():
    def told(*task: Any) -> tuple[Any, ...]:
        strategy = _strategy(*task)
        extended = strategy.extended
        return strategy.num_replicas_in_sync, extended.should_checkpoint, extended.should_save_summary

    assert (told(0), told(1)) == ((2, True, True), (2, False, False))
    with_chief = {**CLUSTER, "chief": ["c:1"], "evaluator": ["d:1"]}
    assert told(0, "chief", with_chief) == (3, True, True) and told(0, "worker", with_chief) == (3, False, False)
    assert told(0, "evaluator", with_chief) == (1, True, True)
    strategy = _strategy(1, "worker", with_chief)
    assert strategy.extended.experimental_between_graph and strategy.extended.experimental_should_init
    context = strategy.extended._input_context()
    assert (context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync) == (3, 2, 3)
    config = strategy.update_config_proto(tf.ConfigProto(device_filters=["/job:ps"]))
    assert list(config.device_filters) == ["/job:worker/task:1"]
    assert config.experimental.collective_group_leader == "/job:chief/replica:0/task:0"
    later = Strategy(cluster_resolver=tf.distribute.cluster_resolver.SimpleClusterResolver(tf.train.ClusterSpec({})))
    later.configure(cluster_spec=CLUSTER, task_type="worker", task_id=1)
    assert later.num_replicas_in_sync == 2 and not later.extended.should_checkpoint


@pytest.mark.parametrize(
    ("task", "job", "message"),
    [
        (None, "worker", "must know which task of .* it is: .* its task_id None"),
        (2, "worker", "There is no task 2 of the job 'worker'"),
        (0, "ps", "Unrecognized task_type: 'ps', valid task types are: chief, master, worker, evaluator"),
    ],
)
def test_tasks_that_are_no_workers(task, job, message):
    with pytest.raises(ValueError, match=message):
        _strategy(task, job, {**CLUSTER, "ps": ["c:1"]})


def test_each_worker_has_its_share_of_every_batch():
    def seen(task: int) -> list[Any]:
        strategy = _strategy(task)
        with tf.Graph().as_default(), strategy.scope():
            batches = strategy.make_dataset_iterator(tf.data.Dataset.range(10).batch(4))
            rows = tf.identity(batches.get_next())
            graph_def = tf.get_default_graph().as_graph_def()
        for node in graph_def.node:
            node.device = ""  # no server here
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.import_graph_def(graph_def, name="")
            session.run(batches.initialize().name)
            return [session.run(graph.get_tensor_by_name(rows.name)).tolist() for _ in range(3)]

    assert seen(0) == [[0, 1], [4, 5], [8]] and seen(1) == [[2, 3], [6, 7], [9]]


def test_what_workers_say_to_each_other(servers):
    def work(number: int, strategy: Any, target: str) -> Any:
        seen = tf.get_variable(
            "seen", [], initializer=tf.zeros_initializer(), synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )  # fmt: skip
        shared = tf.get_variable(
            "shared", [], initializer=tf.zeros_initializer(), aggregation=tf.VariableAggregation.MEAN, trainable=False
        )
        own = tf.constant(number + 1.0)
        x = tf.constant([number + 1.0, 5.0])

        def replica() -> Any:
            context = tf.distribute.get_replica_context()
            mean = context.all_reduce(MEAN, x * x)
            metric = tf.metrics.mean(own)
            (slope,) = tf.gradients(mean, x, grad_ys=tf.stack([own, own]))
            return mean, slope, seen.assign_add(own).op, shared.assign_add(own), metric

        mean, slope, add, changed, (metric, counted) = strategy.experimental_run_v2(replica)
        slices = strategy.reduce(MEAN, tf.IndexedSlices(x[tf.newaxis], [number], [4, 2]))
        along = strategy.reduce(MEAN, tf.range(2.0 + number), axis=0)
        with _session(strategy, target) as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            session.run([add, changed, strategy.group(counted)])
            values = session.run([mean, slope, seen, shared, metric, slices.values, slices.indices, along])
            session.run(seen.assign(7.0))
            return [*values, session.run(seen)]

    first, second = _on_all(servers, work)
    np.testing.assert_array_equal(first[0], [2.5, 25.0])
    np.testing.assert_array_equal(first[1], [3.0, 15.0])  # of the mean of the workers' gradients, 1.5
    np.testing.assert_array_equal(second[1], [6.0, 15.0])
    for values in (first, second):
        assert values[2:5] == [3.0, 1.5, 1.5]
        np.testing.assert_array_equal(values[5], [[0.5, 2.5], [1.0, 2.5]])
        np.testing.assert_array_equal(values[6], [0, 1])
        assert values[7] == pytest.approx((0 + 1 + 0 + 1 + 2) / 5)
        assert values[8] == 7.0


def test_what_is_the_same_on_all_workers_has_no_sum():
    strategy = _strategy()
    with tf.Graph().as_default(), strategy.scope():
        v = tf.get_variable("v", [2])
        assert strategy.extended.reduce_to(MEAN, v, v) is v
        with pytest.raises(ValueError, match="its sum would be 2 times as much"):
            strategy.extended.reduce_to(SUM, v, v)


def test_a_monitored_session_initialises_all_workers_and_one_of_them_saves(servers, tmp_path: Path):
    def work(number: int, strategy: Any, target: str) -> Any:
        loss, batches = _training(strategy, 8)
        table = tf.trainable_variables()[0].value()
        scaffold = tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer(), batches.initialize()))
        with tf.train.MonitoredTrainingSession(
            target, is_chief=number == 0, checkpoint_dir=str(tmp_path / str(number)), scaffold=scaffold, max_wait_secs=20
        ) as session:
            for _ in range(3):
                session.run(loss)
            return session.run(table)

    first, second = _on_all(servers, work)
    np.testing.assert_array_equal(first, second)
    assert tf.train.load_variable(str(tmp_path / "0"), "global_step") == 3
    np.testing.assert_array_equal(tf.train.load_variable(str(tmp_path / "0"), "table"), first)
    assert not os.path.exists(tmp_path / "1")


def test_a_worker_does_not_wait_for_ever_for_first_values(tmp_path: Path):
    """As one does that was started again, without the checkpoint that the first worker goes on from."""
    with running(worker=2) as servers:
        second = servers["worker:1"]
        strategy = _strategy(1, cluster=second._cluster)
        with tf.Graph().as_default(), strategy.scope():
            tf.get_variable("v", [3])
            with pytest.raises(
                tf.errors.DeadlineExceededError, match=r"need the same checkpoint_dir, .* no checkpoint in '/"
            ):
                tf.train.MonitoredTrainingSession(second.target, checkpoint_dir=str(tmp_path), max_wait_secs=0.1)


def test_the_global_step_is_read_without_the_others():
    strategy = _strategy()
    with tf.Graph().as_default() as graph, strategy.scope():
        tf.train.get_or_create_global_step()
        before = len(graph.get_operations())
        global_step_read()
        made = graph.get_operations()[before:]
    assert not any("Initializer" in tensor.op.name for op in made for tensor in op.inputs)


def _coordinated(worker_fn: Callable[[Any], Any], cluster: Any, task: tuple[str, int] | None = None) -> Any:
    mode = coordinator.CoordinatorMode.STANDALONE_CLIENT if task is None else coordinator.CoordinatorMode.INDEPENDENT_WORKER
    return coordinator.run_distribute_coordinator(
        worker_fn, Strategy(), mode=mode, cluster_spec=cluster, task_type=task and task[0], task_id=task and task[1]
    )


def _train_as_told(strategy: Any) -> tuple[Any, ...]:
    context = get_current_worker_context()
    context.wait_for_other_workers()
    with tf.Graph().as_default(), strategy.scope():
        loss, batches = _training(strategy, 8)
        scaffold = tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer(), batches.initialize()))
        with tf.train.MonitoredTrainingSession(scaffold=scaffold) as session:
            told = (context.task_type, context.task_id, context.num_workers, context.is_chief, context.master_target)
            return (*told, session.run(loss))


def test_one_client_of_all_workers(servers, monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    found: list[Any] = []
    cluster = next(iter(servers.values()))._cluster
    assert _coordinated(lambda strategy: found.append(_train_as_told(strategy)), cluster) is None
    first, second = sorted(found)
    assert first[:4] == ("worker", 0, 2, True) and second[:4] == ("worker", 1, 2, False)
    assert [first[4], second[4]] == [server.target for server in servers.values()]
    assert first[5] == second[5]


@pytest.mark.parametrize("failing", [0, 1])
def test_a_client_that_fails_is_not_waited_for(monkeypatch, failing):
    monkeypatch.delenv("TF_CONFIG", raising=False)

    def work(strategy: Any) -> None:
        context = get_current_worker_context()
        if context.task_id == failing:
            raise RuntimeError("no data here")
        context.wait_for_other_workers()

    with pytest.raises(RuntimeError, match="no data here"):
        _coordinated(work, CLUSTER)


def test_each_worker_for_itself(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    cluster = cluster_spec(worker=2)
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(_coordinated, _train_as_told, cluster, ("worker", task)) for task in range(2)]
        first, second = [run.result(60) for run in runs]
    assert (first[:4], second[:4]) == (("worker", 0, 2, True), ("worker", 1, 2, False))
    assert first[5] == second[5]


def test_a_coordinator_without_a_cluster_and_with_wrong_ones(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert _coordinated(lambda strategy: get_current_worker_context().num_workers, None) == 0
    assert get_current_worker_context() is None
    with pytest.raises(ValueError, match="must know which one it is: task_type=None"):
        coordinator.run_distribute_coordinator(_train_as_told, Strategy(), mode="independent_worker", cluster_spec=CLUSTER)
    with pytest.raises(ValueError, match="Unexpected coordinator mode: other"):
        coordinator.run_distribute_coordinator(_train_as_told, Strategy(), mode="other", cluster_spec=CLUSTER)
    with pytest.raises(ValueError, match="You cannot run distribute coordinator in a `worker_fn`"):
        _coordinated(lambda strategy: _coordinated(lambda _: None, None), None)


@pytest.fixture
def _started(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The servers that models start are stopped."""
    servers: dict[Any, tf.train.Server] = {}
    monkeypatch.setattr("tfexp.distribute.collective._servers", servers)
    yield
    for server in servers.values():
        server.stop()


@pytest.mark.usefixtures("_started")
def test_keras_models_of_several_workers():
    cluster = cluster_spec(worker=2)

    def fit(strategy: Any) -> tuple[Any, ...]:
        with tf.Graph().as_default(), strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(3,))])
            model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
            history = model.fit(X, Y + 1, batch_size=8, epochs=2, shuffle=False, verbose=0).history
            return history["loss"], history["mean_absolute_error"], *model.get_weights(), model.predict(X)

    with ThreadPoolExecutor(2) as threads:
        workers = list(threads.map(lambda task: fit(_strategy(task, cluster=cluster)), range(2)))
    alone = fit(tf.distribute.OneDeviceStrategy("/cpu:0"))
    for first, second, expected in zip(*workers, alone, strict=True):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_allclose(first, expected, rtol=1e-5)


def test_the_server_that_the_environment_names(monkeypatch):
    cluster = cluster_spec(worker=1).as_dict()
    for given, missing in (({}, "cluster"), ({"cluster": cluster}, "task")):
        monkeypatch.setenv("TF_CONFIG", json.dumps(given))
        with pytest.raises(ValueError, match=f'"{missing}" is not found in TF_CONFIG'):
            tf.contrib.distribute.run_standard_tensorflow_server()
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    server = tf.contrib.distribute.run_standard_tensorflow_server()
    assert server.target == f"grpc://{cluster['worker'][0]}"
    server.stop()
    assert tf.contrib.distribute.CollectiveAllReduceStrategy(num_gpus_per_worker=0).num_replicas_in_sync == 1
