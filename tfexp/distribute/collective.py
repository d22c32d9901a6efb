"""What needs collective operations or TPUs: whole on one machine, or refused with what to use instead. Source: TF 1.15."""

from __future__ import annotations

import enum
from typing import Any

from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver
from tfexp.distribute.cluster_resolver.tf_config import TFConfigClusterResolver
from tfexp.distribute.devices import whole
from tfexp.distribute.mirrored import MirroredExtended
from tfexp.distribute.strategy import Strategy


class CollectiveCommunication(enum.Enum):
    """How workers would speak with each other. One worker has nothing to say: the three are the same here."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class MultiWorkerMirroredStrategy(Strategy):
    """A replica on this machine's CPU. NotImplementedError where `TF_CONFIG` (or the resolver) names several workers."""

    def __init__(
        self,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
        cluster_resolver: ClusterResolver | None = None,
    ):
        if not isinstance(communication, CollectiveCommunication):
            raise ValueError(f"communication must be a CollectiveCommunication. Given: {communication!r}")
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        cluster = resolver.cluster_spec()
        workers = sum(cluster.num_tasks(job) for job in cluster.jobs if job in ("chief", "master", "worker"))
        if workers > 1:
            raise NotImplementedError(
                f"MultiWorkerMirroredStrategy over {workers} workers needs collective operations between processes "
                f"(CollectiveReduce), which tfexp does not have. The cluster is {cluster}. In step over several workers: "
                "one process with `MirroredStrategy` over their devices (/job:worker/task:0, …), or "
                "`tf.train.SyncReplicasOptimizer`; each at its own pace: `ParameterServerStrategy`."
            )
        extended = MirroredExtended((whole("/cpu:0"),))
        extended._cluster_resolver = resolver
        super().__init__(extended)


class TPUStrategy(Strategy):
    """Cloud TPUs."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(
            "tf.distribute.experimental.TPUStrategy needs TPUs, which tfexp does not have: `MirroredStrategy` has replicas "
            "on CPU devices."
        )
