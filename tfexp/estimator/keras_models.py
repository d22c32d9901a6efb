"""`tf.keras.estimator.model_to_estimator`: a compiled Keras model as an Estimator. Source: TF 1.15."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tfexp.core import nest
from tfexp.estimator.estimator import Estimator, complete_config
from tfexp.estimator.export_outputs import PredictOutput
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.run_config import RunConfig
from tfexp.estimator.spec import EstimatorSpec
from tfexp.estimator.warm_starting import WarmStartSettings
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.convert import convert_to_tensor
from tfexp.graph.dependencies import group
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.keras import backend
from tfexp.keras.engine.cloning import clone_model
from tfexp.keras.metrics import clone_metrics
from tfexp.keras.optimizers import TFOptimizer
from tfexp.keras.saving.save import load_model
from tfexp.keras.serialization import custom_object_scope
from tfexp.ops.cast import cast
from tfexp.runtime.session import Session
from tfexp.train.global_step import get_or_create_global_step
from tfexp.train.saved_model_names import DEFAULT_SERVING_SIGNATURE_DEF_KEY
from tfexp.train.saver import Saver


def model_to_estimator(
    keras_model: Any = None,
    keras_model_path: Any = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    checkpoint_format: str = "saver",
) -> Estimator:
    """An Estimator that trains a copy of a compiled model (or of the one in a file), from the weights that it has now.

    Features are the model's inputs and labels its targets: tensors, lists of them, or dicts by the names of the inputs and
    outputs. checkpoint_format: "saver", by the names of variables. ValueError: not exactly one model, one that is not
    compiled or is subclassed, or another format.
    """
    if (keras_model is None) == (keras_model_path is None):
        given = "not both" if keras_model is not None else "none was given"
        raise ValueError(f"Either `keras_model` or `keras_model_path` needs to be provided: {given}.")
    if checkpoint_format != "saver":
        raise ValueError(f"`checkpoint_format` {checkpoint_format!r} is not there: the only one is 'saver'")
    model = load_model(keras_model_path, custom_objects) if keras_model is None else keras_model
    if not getattr(model, "optimizer", None):
        raise ValueError("The given keras model has not been compiled yet. Please compile the model before.")
    if not model._is_graph_network:
        raise ValueError(
            f"{model.name}: a subclassed model cannot be copied into an Estimator's graph; use Sequential or the "
            "functional API."
        )
    source = _Source(model, custom_objects)
    complete = complete_config(config, model_dir)
    first = source.save_weights(os.path.join(complete.model_dir or "", "keras"))
    return Estimator(source.model_fn, config=complete, warm_start_from=first)


class _Source:
    """The model to copy, and how it is trained, taken while its own session is there."""

    def __init__(self, model: Any, custom_objects: Mapping[str, Any] | None):
        self._model = model
        self._custom_objects = custom_objects or {}
        self._optimizer_config = None if isinstance(model.optimizer, TFOptimizer) else model.optimizer.get_config()

    def save_weights(self, folder: str) -> WarmStartSettings:
        """Writes the model's weights under the names that they have in an Estimator's graph; what reads them there.

        A checkpoint that is in the folder is kept: it is this model's, from an earlier run.
        """
        values = self._model.get_weights()
        with Graph().as_default() as graph, Session(graph=graph).as_default() as session:
            with custom_object_scope(self._custom_objects):
                copy = clone_model(self._model)
            path = latest_checkpoint(folder)
            if path is None:
                copy.set_weights(values)
                Path(folder).mkdir(parents=True, exist_ok=True)
                path = Saver(copy.weights).save(session, os.path.join(folder, "keras_model.ckpt"), write_meta_graph=False)
            names = [f"{re.escape(weight.op.name)}$" for weight in copy.weights]
        assert path is not None
        return WarmStartSettings(path, vars_to_warm_start=names)

    def model_fn(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        """The model function of `tf.estimator.Estimator`."""
        model = self._model
        backend.set_learning_phase(int(mode == ModeKeys.TRAIN))
        with custom_object_scope(self._custom_objects):
            copy = clone_model(model, input_tensors=_in_order(features, model.input_names, model.inputs, "input"))
            predictions = dict(zip(model.output_names, copy.outputs, strict=True))
            exported = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(predictions)}
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=exported)
            self._compile(copy, labels)
            loss = copy.total_loss
            metrics = _metric_ops(copy)
            train_op = _train_op(copy, loss) if mode == ModeKeys.TRAIN else None
        return EstimatorSpec(mode, predictions, loss, train_op, metrics, export_outputs=exported)

    def _compile(self, copy: Any, labels: Any) -> None:
        model = self._model
        copy.compile(
            self._optimizer(),
            loss=model.loss,
            metrics=clone_metrics(model._compile_metrics),
            loss_weights=model.loss_weights,
            weighted_metrics=clone_metrics(model._compile_weighted_metrics),
            sample_weight_mode=model.sample_weight_mode,
            target_tensors=_in_order(labels, model.output_names, (), "target"),
        )

    def _optimizer(self) -> Any:
        """A new optimizer that counts its steps in the global step."""
        step = get_or_create_global_step()
        own = self._model.optimizer
        if self._optimizer_config is None:
            return TFOptimizer(own.optimizer, step)
        optimizer = type(own).from_config(self._optimizer_config)
        optimizer.iterations = step
        return optimizer


def _in_order(given: Any, names: Sequence[str], like: Sequence[Any], what: str) -> list[Any]:
    """Features or labels in the model's order, of the types that its inputs have.

    ValueError: a dict has other names than the model.
    """
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise ValueError(
                    f'Cannot find {what} with name "{name}" in Keras Model. It needs to match one of the following: '
                    f"{', '.join(names)}"
                )
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"The Keras Model's {what}s {missing} are not among those that are given: {list(given)}")
        values = [given[name] for name in names]
    else:
        values = list(nest.flatten(given))
    tensors = [value if isinstance(value, Tensor) else convert_to_tensor(value) for value in values]
    if not like:
        return tensors
    if len(tensors) != len(like):
        raise ValueError(f"The Keras Model has {len(like)} {what}s ({', '.join(names)}), but {len(tensors)} are given")
    return [cast(tensor, own.dtype.base_dtype) for tensor, own in zip(tensors, like, strict=True)]


def _metric_ops(copy: Any) -> dict[str, tuple[Any, Any]]:
    """(value, update) of each metric. Their variables begin anew with each evaluation, as those of `tf.metrics` do."""
    found = {}
    for metric, result in copy._compiled.metrics_and_results:
        found[metric.name] = (metric.result(), result)
        for variable in metric.variables:
            get_default_graph().add_to_collections([GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES], variable)
    return found


def _train_op(copy: Any, loss: Any) -> Any:
    """One step, which also counts, and what layers update besides."""
    updates = [*copy.get_updates_for(None), *copy.get_updates_for(copy.inputs)]
    with name_scope("training"):
        return group(*copy.optimizer.get_updates(loss, copy._unique_trainable_weights), *updates)
