"""An ensemble with one network per worker: each has its parameters and its training on a task of its own."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.models.ensemble import Ensemble
from tfexp.experiment.schema import bounded

__all__ = ["EnsembleApart"]


@dataclass(frozen=True, kw_only=True)
class EnsembleApart(Ensemble):
    """`Ensemble`, its members on the workers in turns; what they say is put together in the graph, on the first worker."""

    tasks: int = bounded(least=0, says="workers that the members are on; 0: all are where the rest is")

    def outputs(self, features: tf.Tensor, spec: Spec) -> tf.Tensor:
        member, found = self._member(), []
        for number in range(self.members):
            own = f"/job:worker/task:{number % self.tasks}" if self.tasks else None
            with contextlib.nullcontext() if own is None else tf.device(own), tf.variable_scope(f"member{number + 1}"):
                found.append(member.outputs(features, spec))
        return tf.stack(found, name="members")
