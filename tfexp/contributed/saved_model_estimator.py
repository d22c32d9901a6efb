"""An Estimator whose model is the graphs of a SavedModel. Source: `tf.contrib.estimator.SavedModelEstimator`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core.dtypes import as_dtype
from tfexp.core.log import get_logger
from tfexp.core.shape import TensorShape
from tfexp.estimator.estimator import Estimator
from tfexp.estimator.export_outputs import named_tensors
from tfexp.estimator.model import Model
from tfexp.estimator.modes import ModeKeys
from tfexp.estimator.saved_models import TAGS
from tfexp.estimator.spec import EstimatorSpec
from tfexp.estimator.warm_starting import WarmStartSettings
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import get_default_graph
from tfexp.train import saved_model_names as names
from tfexp.train.checkpoint_utils import list_variables
from tfexp.train.global_step import assert_global_step, get_global_step
from tfexp.train.saved_model_loader import SavedModelLoader, contains_saved_model, first_ops
from tfexp.train.scaffold import Scaffold

_log = get_logger()
_METHODS = {ModeKeys.TRAIN: names.SUPERVISED_TRAIN_METHOD_NAME, ModeKeys.EVAL: names.SUPERVISED_EVAL_METHOD_NAME}
_OF_THE_EXPORT = (names.ASSETS_KEY, names.LEGACY_INIT_OP_KEY, names.MAIN_OP_KEY, names.TRAIN_OP_KEY)


class SavedModelEstimator(Estimator):
    """Trains, evaluates and predicts with what `experimental_export_all_saved_models` wrote, as far as it has these modes.

    Variables begin with the values of the SavedModel. Features and labels are those of its signatures, by their names.
    RuntimeError for a mode that it lacks, and for an input that makes a global step; ValueError for a folder without a
    SavedModel, for a missing feature, and for one of another type or shape.
    Source: `tf.contrib.estimator.SavedModelEstimator`.
    """

    def __init__(self, saved_model_dir: str, model_dir: str | None = None):
        if not contains_saved_model(saved_model_dir):
            raise ValueError(f"Directory provided has an invalid SavedModel format: {saved_model_dir}")
        self.saved_model_dir, self.saved_model_loader = saved_model_dir, SavedModelLoader(saved_model_dir)
        checkpoint = self.saved_model_loader.variables_path
        variables = [name for name, _ in list_variables(checkpoint)]
        super().__init__(self._load, model_dir, warm_start_from=WarmStartSettings(checkpoint, variables))
        self._model: Model = _WithItsOwnStep(self._load, self._params, self._config, self._model.make_step)
        self._graphs = {mode: meta_graph for mode in TAGS if (meta_graph := self._meta_graph(mode)) is not None}

    def _meta_graph(self, mode: str) -> Any:
        try:
            found = self.saved_model_loader.get_meta_graph_def_from_tags([TAGS[mode]])
        except RuntimeError:
            _log.warning("%s mode not found in SavedModel.", mode)
            return None
        if _signature_key(mode) not in found.signature_def:
            _log.warning("Metagraph for mode %s was found, but SignatureDef %r is missing.", mode, _signature_key(mode))
            return None
        return found

    def _load(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._graphs:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the Metagraph for this "
                "mode has been exported."
            )
        graph = get_default_graph()
        if get_global_step() is not None:
            raise RuntimeError("The input must make no global step: that of the SavedModel is loaded after it.")
        signature = self._graphs[mode].signature_def[_signature_key(mode)]
        keys = list(signature.outputs)
        _, tensors = self.saved_model_loader.load_graph(
            graph,
            [TAGS[mode]],
            input_map=_inputs(signature, features, labels),
            return_elements=[signature.outputs[key].name for key in keys],
        )
        outputs = dict(zip(keys, tensors or (), strict=True))
        assert_global_step(get_global_step())
        start = first_ops(graph, self._graphs[mode])
        train_ops = graph.get_collection(names.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError(f"The SavedModel has several training ops: {train_ops}")
        for key in _OF_THE_EXPORT:  # a new export of this model puts its own there
            graph.get_collection_ref(key).clear()
        loss, predictions, metrics = _parts(mode, outputs, signature.method_name)
        return EstimatorSpec(
            mode,
            predictions,
            loss,
            train_ops[0] if train_ops else None,
            metrics,
            scaffold=Scaffold(local_init_op=start[0] if start else None),
        )


class _WithItsOwnStep(Model):
    """A model whose graph comes with its global step."""

    def begin(self, graph: Graph) -> None:
        return None


def _signature_key(mode: str) -> str:
    return names.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode


def _inputs(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """What is put in the places of the signature's inputs."""
    given = {} if labels is None else named_tensors(labels, "label", "label")
    given |= named_tensors(features, "feature", "feature")
    found: dict[str, Any] = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(f"Key {key!r} not found in features or labels. The model needs: {', '.join(signature.inputs)}")
        _check(key, given[key], as_dtype(info.dtype), TensorShape(info.tensor_shape))
        name = info.name.partition(":")[0]
        found |= {name: given[key], f"^{name}": given[key].op}
    return found


def _check(key: str, tensor: Any, dtype: Any, shape: TensorShape) -> None:
    if tensor.dtype != dtype or not tensor.shape.is_compatible_with(shape):
        raise ValueError(
            f"Tensor shape and/or dtype validation failed for input {key}: Expected {dtype.name} {shape}, Got: "
            f"{tensor.dtype.name} {tensor.shape}"
        )


def _parts(mode: str, outputs: Mapping[str, Any], method: str) -> tuple[Any, dict[str, Any], dict[str, Any] | None]:
    """(loss, predictions, metrics) of the outputs of a signature."""
    if mode == ModeKeys.PREDICT:
        return None, dict(outputs), None
    if method != _METHODS[mode]:
        raise RuntimeError(
            f"Invalid SignatureDef method name for mode {mode}. Expected: {_METHODS[mode]} Got: {method}. Please ensure "
            "that the SavedModel was exported with `tf.estimator.experimental_export_all_saved_models()`."
        )
    metrics = {
        key.removesuffix("/value"): (value, outputs[f"{key.removesuffix('/value')}/update_op"])
        for key, value in outputs.items()
        if key.startswith("metrics/") and key.endswith("/value")
    }
    return outputs["loss"], {key: value for key, value in outputs.items() if key.startswith("predictions")}, metrics
