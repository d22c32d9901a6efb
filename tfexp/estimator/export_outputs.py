"""`tf.estimator.export`: what a served model answers, as signatures of a SavedModel. Source: TF 1.15."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from tfexp.core import dtypes
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
    """The loss, predictions and metrics of an evaluation; metrics are pairs as of `tf.metrics`, called `NAME/value` and
    `NAME/update_op`. ValueError where one of them is no tensor."""

    _method = names.SUPERVISED_EVAL_METHOD_NAME

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Mapping[str, tuple[Any, Any]] | None = None):
        self._outputs: dict[str, Any] = {}
        if loss is not None:
            self._outputs["loss"] = loss
        predictions = {} if predictions is None else named_tensors(predictions, "predictions", "predictions output")
        self._outputs |= {_prefixed("predictions", key): value for key, value in predictions.items()}
        for key, (value, update) in (metrics or {}).items():
            self._outputs |= {f"{_prefixed('metrics', key)}/value": value, f"{_prefixed('metrics', key)}/update_op": update}

    @property
    def outputs(self) -> dict[str, Any]:
        return self._outputs

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        inputs = {key: build_tensor_info(tensor) for key, tensor in receiver_tensors.items()}
        outputs = {key: build_tensor_info(value) for key, value in self._outputs.items() if hasattr(value, "dtype")}
        return build_signature_def(inputs, outputs, self._method)


class TrainOutput(EvalOutput):
    """The same of a training step."""

    _method = names.SUPERVISED_TRAIN_METHOD_NAME


def _prefixed(prefix: str, key: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"


def named_tensors(given: Any, single: str, what: str) -> dict[str, Any]:
    """A dict of tensors by name: a tensor alone gets the name `single`, a tuple as a key becomes a path."""
    named = {}
    for key, value in (given if isinstance(given, Mapping) else {single: given}).items():
        name = "/".join(key) if isinstance(key, tuple) else key
        if not isinstance(name, str):
            raise ValueError(f"{what} key must be a string; got {key}.")
        if not isinstance(value, Tensor | SparseTensor):
            raise ValueError(f"{what} value must be a Tensor; got {value}.")
        named[name] = value
    return named


def with_default(outputs: Mapping[str, ExportOutput]) -> dict[str, ExportOutput]:
    """The outputs, of which one is what is served without a name. ValueError where there are several and none is that."""
    key = names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    if key in outputs:
        return dict(outputs)
    if len(outputs) != 1:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default. Use "
            f"`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` ({key!r}) as the key of one: {', '.join(sorted(outputs))}"
        )
    return {**outputs, key: next(iter(outputs.values()))}
