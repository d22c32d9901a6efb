"""The training whose scaling is looked at, written once: for real tasks, and in miniature for simulated ones.

A model is `pieces` matrices on the parameter servers. A dense one multiplies a batch by all of them; a sparse one looks up
a row of each for each example, so that only these rows, and their gradients, travel.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import tfexp as tf

__all__ = ["Model", "Rule", "Training"]


@dataclass(frozen=True)
class Model:
    """`pieces` matrices of `rows` by `columns` float32, and `batch` examples in a step."""

    pieces: int
    rows: int
    columns: int
    batch: int
    sparse: bool = False

    @property
    def travelling(self) -> int:
        """The bytes of parameters that a worker needs for a step, and of the gradients that it makes of them."""
        return 4 * self.pieces * (self.batch if self.sparse else self.rows) * self.columns

    def miniature(self) -> Model:
        """The same with one float for all of a piece that travels."""
        return dataclasses.replace(self, rows=1, columns=1, batch=1)


@dataclass(frozen=True)
class Rule:
    """How the gradients of the workers are applied: `update` is `async` or `sync`; of a sync step, `spare` may be late."""

    update: str = "async"
    spare: int = 0

    def needed(self, workers: int) -> int:
        """The gradients that make a step."""
        return 1 if self.update == "async" else workers - self.spare

    def __str__(self) -> str:
        return f"{self.update}, {self.spare} spare" if self.spare else self.update


class Training:
    """A worker's graph, built in the current one. `train` makes its part of a step and gives the step.

    `initialize` and `tokens` are the chief's before all others; `join` each other worker's; `update`, for synchronous
    training, what the chief runs again and again beside `train`.
    """

    def __init__(self, model: Model, rule: Rule, servers: int, workers: int, index: int) -> None:
        worker = f"/job:worker/task:{index}"
        with tf.device(tf.train.replica_device_setter(ps_tasks=servers, worker_device=worker)):
            shape = [model.rows, model.columns]
            weights = [tf.Variable(tf.zeros(shape), name=f"piece_{i}") for i in range(model.pieces)]
            step = tf.train.get_or_create_global_step()
            loss = tf.add_n([tf.reduce_mean(tf.square(_part(model, w))) for w in weights])
            optimizer: Any = tf.train.GradientDescentOptimizer(0.01)
            if rule.update == "sync":
                optimizer = tf.train.SyncReplicasOptimizer(optimizer, rule.needed(workers), workers)
            train = optimizer.minimize(loss, global_step=step)
            self.variables = [*weights, step]
            self.initialize: list[Any] = [v.initializer for v in self.variables]
            self.tokens: list[Any] = []
            self.join: list[Any] = []
            self.update: Any = None
            if rule.update == "sync":
                self.tokens = [optimizer.chief_init_op, optimizer.get_init_tokens_op(0)]
                self.join = [optimizer.local_step_init_op]
                self.update = optimizer.get_chief_queue_runner().enqueue_ops[0]
            self.train = train


def _part(model: Model, weights: Any) -> Any:
    """A piece's part of the network."""
    if model.sparse:
        return tf.tanh(tf.nn.embedding_lookup(weights, tf.range(model.batch)))
    return tf.tanh(tf.matmul(tf.ones([model.batch, model.rows]), weights))
