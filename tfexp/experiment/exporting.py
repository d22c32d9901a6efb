"""A run's model as a SavedModel: from rows as the data has them to what the model says of them.

The graph is not the one that was trained: it has what standardizes the rows, the model as it evaluates, and the
predictions in the data's own unit, and nothing of the training.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tfexp as tf
from tfexp.experiment.datasets.dataset import Dataset, Scaling, prepare
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.models import phase
from tfexp.experiment.outputs import RunFiles
from tfexp.experiment.resuming import begun
from tfexp.experiment.schema import Settings

__all__ = ["Serving", "export", "serving"]

_FEATURES = "features"


@dataclass(frozen=True)
class Serving:
    """A model that can be asked: the data it learned from, the step that it is of, and its tensors in `session`'s graph.

    `features` are fed; `outputs` are what the model's loss and metrics take, `predictions` what it is asked for.
    """

    dataset: Dataset
    step: int
    features: tf.Tensor
    outputs: Any
    predictions: Mapping[str, tf.Tensor]
    session: tf.Session


@contextlib.contextmanager
def serving(files: RunFiles, settings: Settings, checkpoint: str) -> Iterator[Serving]:
    """The model that the `checkpoint` of the run has, in a block with its graph and its session.

    It takes `features` float64 [rows, columns], as the data's file has them (rows of TFRecords: as these have them). Raises
    ExperimentError for a checkpoint that does not fit, data that is not what the run was begun with, and a model that
    predicts nothing.
    """
    dataset = settings.input.prepare(prepare(settings.data))
    begun(files, dataset)
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        phase.evaluate_only()
        features = tf.placeholder(tf.float64, [None, dataset.spec.width], name=_FEATURES)
        with tf.variable_scope("model"):
            outputs = settings.model.outputs(_learned_from(features, dataset.scaling), dataset.spec)
        predictions = settings.model.predictions(outputs, dataset.spec)
        if not predictions:
            raise ExperimentError(f"{type(settings.model).__name__} predicts nothing that could be asked for")
        try:
            tf.train.Saver().restore(session, checkpoint)
        except tf.errors.OpError as error:
            raise ExperimentError(f"cannot restore {checkpoint}: {error.message.splitlines()[0]}") from error
        yield Serving(dataset, int(session.run(step)), features, outputs, predictions, session)


def export(files: RunFiles, settings: Settings, checkpoint: str, out: Path) -> Serving:
    """Write the model that the `checkpoint` of the run has into the new folder `out`; returns it, its session closed.

    The SavedModel has the tag `serve` and one signature, `serving_default`: `features` to the model's `predictions`, as
    `serving` says. Raises ExperimentError as that does, and for a folder that is there or cannot be written.
    """
    if out.exists():
        raise ExperimentError(f"{out} is there already: choose another folder, or remove it first")
    with serving(files, settings, checkpoint) as model:
        try:
            tf.saved_model.simple_save(model.session, str(out), {_FEATURES: model.features}, model.predictions)
        except tf.errors.OpError as error:
            raise ExperimentError(f"cannot write {out}: {error.message.splitlines()[0]}") from error
        except OSError as error:
            raise ExperimentError(f"cannot write {out}: {error.strerror}") from error
        return model


def _learned_from(features: tf.Tensor, scaling: Scaling | None) -> Any:
    """The features as the training has them, float32."""
    if scaling is not None:
        with tf.name_scope("standardize"):
            features = (features - scaling.shift) / scaling.scale
    return tf.cast(features, tf.float32)
