"""`tf.estimator.export`: what a served model answers, as signatures of a SavedModel. Source: TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from tfexp.core import dtypes
from tfexp.graph.convert import constant
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.train import saved_model_names as names
from tfexp.train.signatures import (
    build_signature_def,
    build_tensor_info,
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)


class ExportOutput(abc.ABC):
    """One way to answer requests."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        """The SignatureDef from the tensors that receive a request to these outputs. ValueError where they do not fit."""


def _only_receiver(receiver_tensors: Mapping[str, Any], what: str) -> Any:
    if len(receiver_tensors) != 1:
        raise ValueError(f"{what} input must be a single string Tensor; got {dict(receiver_tensors)}")
    (examples,) = receiver_tensors.values()
    if dtypes.as_dtype(examples.dtype) is not dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {dict(receiver_tensors)}")
    return examples


class ClassificationOutput(ExportOutput):
    """Classes (strings), their scores (float32), or both; requests are serialized Examples. ValueError for neither."""

    def __init__(self, scores: Any = None, classes: Any = None):
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype is dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError(
                "Cannot create a ClassificationOutput with empty arguments. At least one of scores and classes must be set."
            )
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        return self._scores

    @property
    def classes(self) -> Any:
        return self._classes

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return classification_signature_def(_only_receiver(receiver_tensors, "Classification"), self._classes, self._scores)


class RegressionOutput(ExportOutput):
    """A number (float32) for each of the serialized Examples of a request. ValueError for another tensor."""

    def __init__(self, value: Any):
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return regression_signature_def(_only_receiver(receiver_tensors, "Regression"), self._value)


class PredictOutput(ExportOutput):
    """Any tensors by name, for any request; one tensor alone is called `output`. ValueError for what is no tensor."""

    def __init__(self, outputs: Any):
        self._outputs = named_tensors(outputs, "output", "Prediction output")

    @property
    def outputs(self) -> dict[str, Any]:
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return predict_signature_def(receiver_tensors, self._outputs)


class EvalOutput(ExportOutput):
    """The loss, predictions and metrics of an evaluation, each a tensor or a dict of them, called `loss/NAME` and so on.

    Metrics are pairs as of `tf.metrics`, or metrics of Keras, called `metrics/NAME/value` and `metrics/NAME/update_op`. Each
    of the three is None where it is not given. ValueError where one of them is no tensor.
    """

    _method = names.SUPERVISED_EVAL_METHOD_NAME

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None):
        self.loss = None if loss is None else _below("loss", named_tensors(loss, "loss", "loss output", dense=True))
        self.predictions = (
            None
            if predictions is None
            else _below("predictions", named_tensors(predictions, "predictions", "predictions output", dense=True))
        )
        self.metrics = None if metrics is None else _values_and_updates(metrics)

    @property
    def outputs(self) -> dict[str, Any]:
        """All of them."""
        return {**(self.loss or {}), **(self.predictions or {}), **(self.metrics or {})}

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        inputs = {key: build_tensor_info(tensor) for key, tensor in receiver_tensors.items()}
        outputs = {key: build_tensor_info(value) for key, value in self.outputs.items()}
        return build_signature_def(inputs, outputs, self._method)


def _values_and_updates(metrics: Any) -> dict[str, Tensor]:
    """The two tensors of each metric. An update that is an operation is waited for by an empty tensor."""
    tensors: dict[str, Tensor] = {}
    for given, metric in (metrics if isinstance(metrics, Mapping) else {"metrics": metrics}).items():
        key = _prefixed("metrics", _name_of_key(given, "metrics output"))
        value, update = metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])
        if not isinstance(value, Tensor):
            raise ValueError(f"{key} output value must be a Tensor; got {value}.")
        if not isinstance(update, Tensor | Operation):
            raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
        if isinstance(update, Operation):
            with get_default_graph().control_dependencies([update]):
                update = constant([], name="metric_op_wrapper")
        tensors |= {f"{key}/value": value, f"{key}/update_op": update}
    return tensors


class TrainOutput(EvalOutput):
    """The same of a training step."""

    _method = names.SUPERVISED_TRAIN_METHOD_NAME


def _prefixed(prefix: str, key: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"


def _below(prefix: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {_prefixed(prefix, key): value for key, value in tensors.items()}


def _name_of_key(key: Any, what: str) -> str:
    """A tuple as a key becomes a path. ValueError for what is no text."""
    name = "/".join(key) if isinstance(key, tuple) else key
    if not isinstance(name, str):
        raise ValueError(f"{what} key must be a string; got {key}.")
    return name


def named_tensors(given: Any, single: str, what: str, dense: bool = False) -> dict[str, Any]:
    """A dict of tensors by name: one alone is called `single`. ValueError for others, as for sparse ones if `dense`."""
    named = {}
    for key, value in (given if isinstance(given, Mapping) else {single: given}).items():
        name = _name_of_key(key, what)
        if not isinstance(value, Tensor if dense else Tensor | SparseTensor):
            raise ValueError(f"{what} value must be a Tensor; got {value}.")
        named[name] = value
    return named


def with_default(outputs: Mapping[str, ExportOutput]) -> dict[str, ExportOutput]:
    """The outputs, of which one is what is served without a name. ValueError where there are several and none is that."""
    key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key in outputs or not outputs:
        return dict(outputs)
    if len(outputs) > 1:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default. Use "
            f"`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` ({key!r}) as the key of one: {', '.join(sorted(outputs))}"
        )
    return {**outputs, key: next(iter(outputs.values()))}
