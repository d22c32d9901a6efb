"""Running a function as the client of each task of a cluster: `run_distribute_coordinator`. Source: TF 1.15.

Either every task is a process that calls it and serves its own sessions (`CoordinatorMode.INDEPENDENT_WORKER`), or one
process is the client of all tasks, a thread for each, and the others serve (`CoordinatorMode.STANDALONE_CLIENT`).
"""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.core.log import get_logger
from tfexp.distribute.strategy import Strategy
from tfexp.distribute.worker_tasks import WORKER_JOBS, worker_tasks
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.server import Server
from tfexp.distributed.tf_config import parse_tf_config
from tfexp.train.worker_context import Enterable

_log = get_logger()


class CoordinatorMode:
    """Who calls `run_distribute_coordinator`."""

    STANDALONE_CLIENT = "standalone_client"
    INDEPENDENT_WORKER = "independent_worker"


@dataclass(frozen=True)
class WorkerContext(Enterable):
    """What the function of a task may ask; without a cluster, `task_type` and `task_id` are None."""

    strategy: Strategy | None
    cluster_spec: ClusterSpec
    task_type: str | None
    task_id: int | None
    session_config: config_pb2.ConfigProto | None = None
    master_target: str = ""
    barrier: threading.Barrier | None = None

    @property
    def has_barrier(self) -> bool:
        """Whether `wait_for_other_workers` waits: where one process is the client of all of them."""
        return self.barrier is not None

    def wait_for_other_workers(self) -> None:
        """Wait until all workers have come here."""
        if self.barrier is not None:
            self.barrier.wait()

    @property
    def num_workers(self) -> int:
        return len(worker_tasks(self.cluster_spec))

    @property
    def distributed_mode(self) -> bool:
        """Whether there are several workers, or an evaluator beside one."""
        return self.num_workers > 1 or self.task_type == "evaluator"

    @property
    def is_chief(self) -> bool:
        return self.should_checkpoint

    @property
    def experimental_should_init(self) -> bool:
        return self.strategy is None or self.strategy.extended.experimental_should_init

    @property
    def should_checkpoint(self) -> bool:
        return self.strategy is None or self.strategy.extended.should_checkpoint

    @property
    def should_save_summary(self) -> bool:
        return self.strategy is None or self.strategy.extended.should_save_summary


def run_standard_tensorflow_server(session_config: config_pb2.ConfigProto | None = None) -> Server:
    """The server of the task that `TF_CONFIG` names, started. ValueError where that says no cluster, or no task."""
    environment = parse_tf_config(os.environ.get("TF_CONFIG"))
    for key in ("cluster", "task"):
        if key not in environment:
            raise ValueError(f'"{key}" is not found in TF_CONFIG.')
    task = environment["task"]
    protocol = environment.get("rpc_layer", "grpc")
    return Server(environment["cluster"], task["type"], int(task.get("index", 0)), protocol=protocol, config=session_config)


def run_distribute_coordinator(
    worker_fn: Callable[[Any], Any],
    strategy: Strategy,
    eval_fn: Callable[[Any], Any] | None = None,
    eval_strategy: Strategy | None = None,
    mode: str = CoordinatorMode.STANDALONE_CLIENT,
    cluster_spec: Any = None,
    task_type: str | None = None,
    task_id: int | None = None,
    session_config: config_pb2.ConfigProto | None = None,
    rpc_layer: str = "grpc",
) -> Any:
    """`worker_fn(strategy)` of each worker, `eval_fn(eval_strategy)` of the evaluator; parameter servers serve for ever.

    The cluster and, where every task calls it, the task are what the arguments or else `TF_CONFIG` say; without a cluster
    `worker_fn` is called here. Every worker's strategy is told of its task (`configure`), and sessions of
    `tf.train.MonitoredTrainingSession` are of its task. Returns what the function of the own task gave, and None for a
    client of all. ValueError for another mode, and where the own task is not known.
    """
    environment = parse_tf_config(os.environ.get("TF_CONFIG"))
    cluster = ClusterSpec(cluster_spec or environment.get("cluster") or {})
    if not cluster.jobs:
        with WorkerContext(strategy, cluster, None, None, session_config):
            return worker_fn(strategy)
    client = _Client(worker_fn, strategy, eval_fn or worker_fn, eval_strategy, cluster, session_config, rpc_layer)
    if mode == CoordinatorMode.STANDALONE_CLIENT:
        workers = worker_tasks(cluster)
        evaluators = cluster.task_indices("evaluator") if "evaluator" in cluster.jobs else []
        tasks = [*workers, *(("evaluator", number) for number in evaluators)]
        barrier = threading.Barrier(len(workers))
        with ThreadPoolExecutor(len(tasks)) as threads:
            runs = [threads.submit(client.run_or_break, barrier, *task) for task in tasks]
        errors = [error for error in (run.exception() for run in runs) if error is not None]
        # Those who were waiting at the barrier only tell that another one has failed.
        for error in sorted(errors, key=lambda error: isinstance(error, threading.BrokenBarrierError)):
            raise error
        return None
    if mode != CoordinatorMode.INDEPENDENT_WORKER:
        raise ValueError(f"Unexpected coordinator mode: {mode}")
    own = environment.get("task") or {}
    task_type = own.get("type") if task_type is None else task_type
    task_id = own.get("index") if task_id is None else task_id
    if task_type is None or task_id is None:
        raise ValueError(f"A task of {cluster} must know which one it is: task_type={task_type!r}, task_id={task_id!r}")
    return client.serve_and_run(task_type, int(task_id))


@dataclass(frozen=True)
class _Client:
    worker_fn: Callable[[Any], Any]
    strategy: Strategy
    eval_fn: Callable[[Any], Any]
    eval_strategy: Strategy | None
    cluster: ClusterSpec
    session_config: config_pb2.ConfigProto | None
    rpc_layer: str

    def serve_and_run(self, task_type: str, task_id: int) -> Any:
        """As the task itself."""
        if task_type == "evaluator":
            return self.run(task_type, task_id, target="")
        settings = self._of_task(self.strategy, task_type, task_id).update_config_proto(
            self.session_config or config_pb2.ConfigProto()
        )
        _log.info("Starting standard TensorFlow server, target = %s", self.cluster.task_address(task_type, task_id))
        server = Server(self.cluster, task_type, task_id, protocol=self.rpc_layer, config=settings)
        if task_type not in WORKER_JOBS:
            server.join()
        try:
            return self.run(task_type, task_id)
        finally:
            server.stop()

    def run_or_break(self, barrier: threading.Barrier, task_type: str, task_id: int) -> None:
        """As one of the clients that meet at a barrier: where one fails, the others do not wait for it."""
        try:
            self.run(task_type, task_id, barrier=barrier)
        except BaseException:
            barrier.abort()
            raise

    def run(self, task_type: str, task_id: int, target: str | None = None, barrier: threading.Barrier | None = None) -> Any:
        """As the client of the task."""
        function, strategy = self.worker_fn, self._of_task(self.strategy, task_type, task_id)
        if task_type == "evaluator":
            function, strategy = self.eval_fn, self._of_task(self.eval_strategy, task_type, task_id)
        settings = self.session_config
        if strategy is not None:
            settings = strategy.update_config_proto(settings or config_pb2.ConfigProto())
        if target is None:
            target = f"{self.rpc_layer}://{self.cluster.task_address(task_type, task_id)}"
        with WorkerContext(strategy, self.cluster, task_type, task_id, settings, target, barrier):
            return function(strategy)

    def _of_task(self, strategy: Any, task_type: str, task_id: int) -> Any:
        """The strategy as that task has it: a copy, as in one process there may be several tasks."""
        if strategy is None:
            return None
        own = copy.copy(strategy)
        own._extended = copy.copy(strategy._extended)
        own._extended._container_strategy = own
        own.configure(self.session_config, self.cluster.as_dict(), task_type, task_id)
        return own
