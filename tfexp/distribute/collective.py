"""`MultiWorkerMirroredStrategy`: a replica on each worker, each of which builds its own graph; in step by collective ops.

Every worker builds the same program, so that what it asks the others for has the same keys on all of them: they count up
from the same numbers in every graph. Source: TF 1.15.
"""

from __future__ import annotations

import enum
import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from tensorboard.compat.proto import config_pb2

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver
from tfexp.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from tfexp.distribute.cross_device import divided
from tfexp.distribute.devices import whole
from tfexp.distribute.input import InputContext
from tfexp.distribute.mirrored import MirroredExtended
from tfexp.distribute.reductions import ReduceOp
from tfexp.distribute.strategy import Strategy
from tfexp.distribute.values import Mirrored, copies_of
from tfexp.distribute.variables import MirroredVariable
from tfexp.distribute.worker_tasks import WORKER_JOBS, worker_tasks
from tfexp.distributed.cluster import ClusterSpec
from tfexp.distributed.server import Server
from tfexp.graph.convert import IndexedSlices, convert_to_tensor
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import control_dependencies, device, executing_eagerly, get_default_graph, name_scope
from tfexp.ops.array_identity import identity
from tfexp.ops.collective import all_gather, all_reduce, broadcast_recv, broadcast_send

_GROUP_KEY = 1
_FIRST_INSTANCE, _FIRST_VARIABLE = 100, 1000000

_servers: dict[Any, Server] = {}  # of this process, by cluster and task
_servers_lock = threading.Lock()


class CollectiveCommunication(enum.Enum):
    """How workers speak with each other, on GPUs. On CPUs, which all devices are here, the three are the same."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class _Keys:
    """The instance keys of one graph."""

    def __init__(self) -> None:
        self.instances = itertools.count(_FIRST_INSTANCE)
        self.variables = itertools.count(_FIRST_VARIABLE)


class CollectiveExtended(MirroredExtended):
    """One replica, this worker's, whose variables all workers have; without a cluster, on this machine's CPU."""

    def __init__(self, communication: CollectiveCommunication, cluster_resolver: ClusterResolver):
        super().__init__((whole("/cpu:0"),))
        self._cluster_resolver = cluster_resolver
        self._hint = communication.value.lower()
        self._keys: weakref.WeakKeyDictionary[Graph, _Keys] = weakref.WeakKeyDictionary()
        self._join(cluster_resolver.cluster_spec(), cluster_resolver.task_type, cluster_resolver.task_id)

    def _join(self, cluster: ClusterSpec, task_type: str | None, task_id: int | None) -> None:
        self._cluster, self._task_type, self._task_id = cluster, task_type, task_id
        self._workers: list[tuple[str, int]] = []
        if not cluster:
            return
        if task_type is None or task_id is None:
            raise ValueError(
                f"A worker must know which task of {cluster} it is: the resolver's task_type is {task_type!r} and its "
                f"task_id {task_id!r}"
            )
        if task_type not in (*WORKER_JOBS, "evaluator"):
            raise ValueError(
                f"Unrecognized task_type: {task_type!r}, valid task types are: {', '.join(WORKER_JOBS)}, evaluator"
            )
        if task_type in WORKER_JOBS:  # an evaluator is alone
            self._workers = worker_tasks(cluster)
            if (task_type, task_id) not in self._workers:
                raise ValueError(f"There is no task {task_id} of the job {task_type!r} in {cluster}")
        worker = f"/job:{task_type}/task:{task_id}"
        self._devices, self._default_device = (whole(worker),), worker

    # --- what there is ---------------------------------------------------------------------------------------------

    @property
    def _rank(self) -> int:
        return self._workers.index((self._task_type or "", self._task_id or 0)) if self._workers else 0

    @property
    def _is_alone(self) -> bool:
        return len(self._workers) < 2

    @property
    def _num_replicas_in_sync(self) -> int:
        return max(1, len(self._workers))

    @property
    def _replicas_here(self) -> range:
        return range(self._rank, self._rank + 1)

    @property
    def experimental_between_graph(self) -> bool:
        return True

    @property
    def should_checkpoint(self) -> bool:
        return self._rank == 0

    @property
    def should_save_summary(self) -> bool:
        return self._rank == 0

    @property
    def _reduction_device(self) -> str:
        return self._devices[0]

    def _configure(self, session_config: Any, cluster_spec: Any, task_type: str | None, task_id: int | None) -> None:
        if cluster_spec and not self._cluster:
            self._join(ClusterSpec(cluster_spec), task_type, task_id)

    def _input_context(self) -> InputContext:
        return InputContext(self._num_replicas_in_sync, self._rank, self._num_replicas_in_sync)

    def _session_target(self) -> str:
        """This task's server, which is started, and stays, with the first of them."""
        if self._is_alone:
            return ""
        place = (str(self._cluster.as_dict()), self._task_type, self._task_id)
        with _servers_lock:
            if place not in _servers:
                settings = self._update_config_proto(config_pb2.ConfigProto())
                _servers[place] = Server(self._cluster, self._task_type, self._task_id, config=settings)
            return str(_servers[place].target)

    def _update_config_proto(self, config_proto: Any) -> Any:
        """A worker's sessions see its own task alone; it meets the others at the first of them."""
        updated = super()._update_config_proto(config_proto)
        updated.isolate_session_state = config_proto.isolate_session_state
        rewriting = updated.graph_options.rewrite_options
        rewriting.scoped_allocator_optimization = rewriting.ON
        rewriting.scoped_allocator_opts.enable_op[:] = ["CollectiveReduce"]
        if self._cluster:
            updated.device_filters[:] = [f"/job:{self._task_type}/task:{self._task_id}"]
        if self._workers:
            job, number = self._workers[0]
            updated.experimental.collective_group_leader = f"/job:{job}/replica:0/task:{number}"
        return updated

    # --- variables -------------------------------------------------------------------------------------------------

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        if self._is_alone:
            return super()._create_variable(next_creator, **kwargs)
        if executing_eagerly():
            raise RuntimeError("Variables of several workers are made in a graph, not in eager execution.")
        given, dtype = kwargs["initial_value"], kwargs.get("dtype")

        def initial_value() -> Any:
            return self._broadcast(convert_to_tensor(given() if callable(given) else given, dtype=dtype))

        return super()._create_variable(next_creator, **{**kwargs, "initial_value": initial_value})

    def _broadcast(self, value: Any) -> Any:
        """What the first worker has as `value`."""
        group = (len(self._workers), _GROUP_KEY, next(self._own_keys().variables), self._hint)
        if self._rank > 0:
            return broadcast_recv(value.shape, value.dtype, *group)
        with control_dependencies([broadcast_send(value, value.shape, value.dtype, *group)]):
            return identity(value)

    # --- values ----------------------------------------------------------------------------------------------------

    def _own_keys(self) -> _Keys:
        return self._keys.setdefault(get_default_graph(), _Keys())

    def _reduce_to(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        if self._is_alone:
            return super()._reduce_to(reduce_op, value, destinations)
        if isinstance(value, (Mirrored, MirroredVariable)):
            if reduce_op is ReduceOp.MEAN:
                return value
            raise ValueError(f"{value!r} is the same on all workers: its sum would be {len(self._workers)} times as much")
        (reduced,) = self._reduced(reduce_op, [_own_part(value)])
        return self._broadcast_to(reduced, destinations)

    def _batch_reduce_to(self, reduce_op: ReduceOp, pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
        """Dense values first, together; then those in rows."""
        if self._is_alone:
            return super()._batch_reduce_to(reduce_op, pairs)
        values = [_own_part(value) for value, _ in pairs]
        reduced: dict[int, Any] = {}
        for in_rows in (False, True):
            chosen = [i for i, value in enumerate(values) if isinstance(value, IndexedSlices) == in_rows]
            reduced.update(zip(chosen, self._reduced(reduce_op, [values[i] for i in chosen]), strict=True))
        return [reduced[i] for i in range(len(values))]

    def _reduced(self, reduce_op: ReduceOp, values: Sequence[Any]) -> list[Any]:
        with device(self._devices[0]):
            with name_scope("allreduce"):
                summed = [self._summed(value) for value in values]
            return summed if reduce_op is ReduceOp.SUM else [divided(value, len(self._workers)) for value in summed]

    def _summed(self, value: Any) -> Any:
        if isinstance(value, IndexedSlices):
            rows, indices = (all_gather(part, *self._new_keys(), self._hint) for part in (value.values, value.indices))
            return IndexedSlices(rows, indices, value.dense_shape)
        return all_reduce(value, *self._new_keys(), "Add", "Id", communication_hint=self._hint)

    def _new_keys(self) -> tuple[int, int, int]:
        """Group size, group key and instance key of a new op."""
        return len(self._workers), _GROUP_KEY, next(self._own_keys().instances)


def _own_part(value: Any) -> Any:
    parts = copies_of(value)
    return value if parts is None else parts[0]


class MultiWorkerMirroredStrategy(Strategy):
    """A replica on each worker of the cluster, in step: what they make together is one step of all their batches.

    Each worker is a process of its own that runs the same program, on a session of its own `tf.train.Server` (or of its
    estimator's or model's) with `update_config_proto`'s settings. Variables begin as those of the first worker; gradients
    are summed by collective ops. `cluster_resolver` says which task of which cluster this process is; default, the
    environment's `TF_CONFIG`. ValueError where the task is not known or no worker.
    """

    def __init__(
        self,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ):
        if not isinstance(communication, CollectiveCommunication):
            raise ValueError(f"communication must be a CollectiveCommunication. Given: {communication!r}")
        super().__init__(
            CollectiveExtended(communication, TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver)
        )
