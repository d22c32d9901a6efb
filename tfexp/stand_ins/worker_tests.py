"""`tensorflow.python.distribute.multi_worker_test_base`: tests of several workers in one process. Source: TF 1.15."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import socket
import threading
import unittest.mock
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from tensorboard.compat.proto import config_pb2
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from tfexp.core.errors import UnknownError
from tfexp.distributed.local_cluster import ServersOfJobs, serve_jobs
from tfexp.distributed.tf_config import parse_tf_config
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import executing_eagerly
from tfexp.runtime.session import Session
from tfexp.runtime.testing import TestCase
from tfexp.stand_ins.context import eager_mode
from tfexp.train.coordinator import Coordinator

# Servers end with the process: tests keep addresses only.
_servers: list[ServersOfJobs] = []


def _sizes(num_workers: int, num_ps: int, has_chief: bool, has_eval: bool) -> dict[str, int]:
    sizes = {"chief": int(has_chief), "worker": num_workers, "ps": num_ps, "evaluator": int(has_eval)}
    return {job: size for job, size in sizes.items() if size}


def create_in_process_cluster(
    num_workers: int, num_ps: int, has_chief: bool = False, has_eval: bool = False, rpc_layer: str = "grpc"
) -> dict[str, list[str]]:
    """Serve a cluster in this process for as long as it lives: {job: addresses}."""
    servers = serve_jobs(_sizes(num_workers, num_ps, has_chief, has_eval), rpc_layer)
    _servers.append(servers)
    return {job: [server.address for server in of] for job, of in servers.items()}


def pick_unused_port() -> int:
    """A port of this machine that nobody listens at."""
    return _unused_ports(1)[0]


def _unused_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("localhost", 0))
        return [one.getsockname()[1] for one in sockets]


def create_cluster_spec(
    has_chief: bool = False, num_workers: int = 1, num_ps: int = 0, has_eval: bool = False, test_obj: Any = None
) -> dict[str, list[str]]:
    """{job: addresses} of a cluster that could be served here. `test_obj` changes nothing: there are always ports."""
    sizes = _sizes(num_workers, num_ps, has_chief, has_eval)
    ports = iter(_unused_ports(sum(sizes.values())))
    return {job: [f"localhost:{next(ports)}" for _ in range(size)] for job, size in sizes.items()}


@contextlib.contextmanager
def skip_if_grpc_server_cant_be_started(test_obj: Any) -> Iterator[None]:
    """A block whose test is skipped where a server cannot be started."""
    try:
        yield
    except UnknownError as error:
        if "Could not start gRPC server" not in str(error):
            raise
        test_obj.skipTest(str(error))


class _Modes(TestCase):
    """A test case whose parts run in threads, each building a graph or running ops at once."""

    def _in_mode(self, eagerly: bool, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        with eager_mode() if eagerly else Graph().as_default():
            function(*args, **kwargs)


class MultiWorkerTestBase(_Modes):
    """A test case with a cluster of two workers and a parameter server; its sessions are of the first worker."""

    _cluster_spec: dict[str, list[str]]
    _default_target: str

    @classmethod
    def setUpClass(cls, num_workers: int = 2, num_ps: int = 1) -> None:
        super().setUpClass()
        cls._cluster_spec = create_in_process_cluster(num_workers, num_ps)
        cls._default_target = f"grpc://{cls._cluster_spec['worker'][0]}"

    def setUp(self) -> None:
        super().setUp()
        # Clients run in threads of one test, and each has a session of its own.
        self._thread_local = threading.local()

    def _create_config(self, config: config_pb2.ConfigProto | None) -> config_pb2.ConfigProto:
        """`config` without softness of placement, and without what would change graphs between runs."""
        made = config_pb2.ConfigProto(allow_soft_placement=False) if config is None else copy.deepcopy(config)
        options = made.graph_options
        options.optimizer_options.opt_level = config_pb2.OptimizerOptions.L0
        options.rewrite_options.constant_folding = RewriterConfig.OFF
        options.rewrite_options.pin_to_host_optimization = RewriterConfig.OFF
        return made

    @contextlib.contextmanager
    def session(  # type: ignore[override] # TensorFlow's arguments
        self, graph: Any = None, config: Any = None, target: str | None = None
    ) -> Iterator[Any]:
        """A new session at `target`, the default session of the block; None where ops run at once."""
        if executing_eagerly():
            yield None
            return
        with Session(self._target(target), graph, self._create_config(config)) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(  # type: ignore[override] # TensorFlow's arguments
        self, graph: Any = None, config: Any = None, target: str | None = None
    ) -> Iterator[Any]:
        """The session of this test and thread, made by the first call."""
        if executing_eagerly():
            yield None
            return
        session = getattr(self._thread_local, "cached_session", None)
        if session is None:
            session = self._thread_local.cached_session = Session(self._target(target), graph, self._create_config(config))
        with session.graph.as_default(), session.as_default():
            yield session

    def _target(self, target: str | None) -> str:
        return self._default_target if target is None else target

    def _run_client(
        self,
        client_fn: Callable[..., Any],
        task_type: str,
        task_id: int,
        num_gpus: int,
        eager_mode: bool,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """`client_fn(task_type, task_id, num_gpus, …)`, in the mode."""
        self._in_mode(eager_mode, client_fn, task_type, task_id, num_gpus, *args, **kwargs)

    def _run_between_graph_clients(
        self, client_fn: Callable[..., Any], cluster_spec: Mapping[str, Any], num_gpus: int, *args: Any, **kwargs: Any
    ) -> None:
        """`client_fn` for the chief and all workers, each in a thread; returns when all have."""
        eagerly = executing_eagerly()
        threads = [
            self.checkedThread(self._run_client, (client_fn, job, task, num_gpus, eagerly, *args), kwargs)
            for job in ("chief", "worker")
            for task in range(len(cluster_spec.get(job, ())))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class MockOsEnv(MutableMapping[str, Any]):
    """Stands for `os.environ`, with a `TF_CONFIG` for each thread."""

    def __init__(self, *args: Any):
        self._common = dict(*args)
        self._of_thread = threading.local()

    def _values(self, key: str) -> dict[str, Any]:
        own: dict[str, Any] = vars(self._of_thread)
        return own if key == "TF_CONFIG" else self._common

    def __getitem__(self, key: str) -> Any:
        return self._values(key)[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._values(key)[key] = value

    def __delitem__(self, key: str) -> None:
        del self._values(key)[key]

    def __iter__(self) -> Iterator[str]:
        yield from self._common
        yield from vars(self._of_thread)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class IndependentWorkerTestBase(_Modes):
    """A test case whose tasks run in threads, each with a `TF_CONFIG` of its own."""

    def setUp(self) -> None:
        super().setUp()
        self._mock_os_env = MockOsEnv(os.environ)
        self._mock_context = unittest.mock.patch.object(os, "environ", self._mock_os_env)
        self._mock_context.start()
        self.addCleanup(self._mock_context.stop)
        self._coord = Coordinator()

    def _task_thread(
        self, task_fn: Callable[..., Any], tf_config: Any, executing_eagerly: bool, *args: Any, **kwargs: Any
    ) -> None:
        with self._coord.stop_on_exception():
            os.environ["TF_CONFIG"] = json.dumps(tf_config)
            self._in_mode(executing_eagerly, task_fn, *args, **kwargs)

    def _run_task_in_thread(
        self,
        task_fn: Callable[..., Any],
        cluster_spec: Any,
        task_type: str | None,
        task_id: int | None,
        *args: Any,
        **kwargs: Any,
    ) -> threading.Thread:
        """The started thread of a task; without a type, of a client that is no task."""
        tf_config: dict[str, Any] = {"cluster": cluster_spec}
        if task_type is not None:
            tf_config["task"] = {"type": task_type, "index": task_id}
        thread = threading.Thread(
            target=self._task_thread, args=(task_fn, tf_config, executing_eagerly(), *args), kwargs=kwargs
        )
        thread.start()
        return thread

    def run_multiple_tasks_in_threads(
        self, task_fn: Callable[..., Any], cluster_spec: Mapping[str, Any], *args: Any, **kwargs: Any
    ) -> dict[str, list[threading.Thread]]:
        """{job: the started threads of its tasks}"""
        return {
            job: [
                self._run_task_in_thread(task_fn, cluster_spec, job, task, *args, **kwargs) for task in range(len(addresses))
            ]
            for job, addresses in cluster_spec.items()
        }

    def join_independent_workers(self, worker_threads: Iterable[threading.Thread]) -> None:
        """Wait for the threads; the first error of a task is raised."""
        self._coord.join(worker_threads)


# --- what the environment says ----------------------------------------------------------------------------------------


def get_tf_config_task() -> Any:
    return parse_tf_config(os.environ.get("TF_CONFIG"))["task"]


def get_tf_config_cluster_spec() -> Any:
    return parse_tf_config(os.environ.get("TF_CONFIG"))["cluster"]


def get_task_type() -> str:
    return str(get_tf_config_task()["type"])


def get_task_index() -> int:
    return int(get_tf_config_task()["index"])


def is_chief() -> bool:
    """Whether this is the chief, or the first worker of a cluster without one."""
    first = "worker" if "chief" not in get_tf_config_cluster_spec() else "chief"
    return get_task_type() == first and get_task_index() == 0
