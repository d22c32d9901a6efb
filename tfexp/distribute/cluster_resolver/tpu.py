"""`TPUClusterResolver`: programs for Cloud TPUs make one whether or not they have any. Source: TF 1.15."""

from __future__ import annotations

import os
from typing import Any

from tfexp.core.text import as_text
from tfexp.distribute.cluster_resolver.resolvers import ClusterResolver, with_layer
from tfexp.distributed.cluster import ClusterSpec
from tfexp.graph.scopes import executing_eagerly

_GRPC = "grpc://"
_LOCAL = ("localhost:", "/bns", "uptc://")


class TPUClusterResolver(ClusterResolver):
    """The addresses that are given: `""` and `local` are this process's, `grpc://host:port,grpc://host:port` others'.

    `tpu` is a string or a list of one; where it is None, `KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS` or `TPU_NAME` of the environment.
    ValueError where these say nothing. NotImplementedError for the name of a Cloud TPU, which only Google's services know:
    `zone`, `project`, `credentials`, `service` and `discovery_url` are about them.
    """

    def __init__(
        self,
        tpu: str | bytes | list[Any] | None = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ):
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) > 1:
                raise NotImplementedError(f"One session can use one TPU. Given: {tpu!r}")
            tpu = tpu[0]
        if tpu is None:
            tpu = os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", os.environ.get("TPU_NAME"))
        if tpu is None:
            raise ValueError("Please provide a TPU name to connect to: the argument `tpu`, or TPU_NAME in the environment.")
        name = as_text(tpu)
        local = name in ("", "local") or name.startswith(_LOCAL)
        if not local and not name.startswith(_GRPC):
            raise NotImplementedError(
                f"Which addresses the TPU {name!r} has, Google's services know, and tfexp does not speak with them. Give "
                "an address (grpc://host:port), or an empty string for this process."
            )
        self._addresses = [address.removeprefix(_GRPC) for address in name.split(",")]
        self._environment = "google" if local else ""
        self.rpc_layer = None if local else "grpc"
        self.task_type, self.task_id = job_name, 0
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}

    def cluster_spec(self) -> ClusterSpec | None:  # type: ignore[override]
        """The job of the addresses, and the coordinator if it has one; None in graph mode where they are this process's."""
        if self.rpc_layer is None and not executing_eagerly():
            return None
        return ClusterSpec({self.task_type: self._addresses, **self._coordinator})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The first of the addresses, whichever task is asked for."""
        return with_layer(self._addresses[0], rpc_layer or self.rpc_layer)

    def get_master(self) -> str:
        return self.master()

    def get_job_name(self) -> str | None:
        """None in graph mode."""
        return self.task_type if executing_eagerly() else None

    @property
    def environment(self) -> str:
        return self._environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """{"TPU": how many this machine has}."""
        return {"TPU": super().num_accelerators(task_type, task_id, config_proto).get("TPU", 0)}
