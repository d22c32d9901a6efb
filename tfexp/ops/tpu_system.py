"""Nodes that start and stop the system of TPUs, which only its device has. Source: `tf.tpu`, TF 1.15."""

from __future__ import annotations

from typing import Any

from tfexp.graph.scopes import device
from tfexp.ops.tpu_ops import configure_op, shutdown_op


def _system(job: str | None) -> Any:
    return device("/device:TPU_SYSTEM:0" if job is None else f"/job:{job}/device:TPU_SYSTEM:0")


def initialize_system(embedding_config: Any = None, job: str | None = None) -> Any:
    """A node that sets up the TPUs of a job and gives their topology, a serialized TopologyProto.

    `embedding_config`: a TPUEmbeddingConfiguration. Source: `tf.tpu.initialize_system`.
    """
    config = b"" if embedding_config is None else embedding_config.SerializeToString()
    with _system(job):
        return configure_op(tpu_embedding_config=config)


def shutdown_system(job: str | None = None) -> Any:
    """A node that shuts the TPUs of a job down. Source: `tf.tpu.shutdown_system`."""
    with _system(job):
        return shutdown_op()
