"""Signatures of training and evaluation, and of one operation. Source: `signature_def_utils_impl`, TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core.errors import NotFoundError
from tfexp.graph.operation import Operation
from tfexp.graph.scopes import get_default_graph
from tfexp.train import saved_model_names as names
from tfexp.train.signatures import build_signature_def, build_tensor_info, build_tensor_info_from_op


def supervised_train_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """Of a training step: tensors by name. ValueError without inputs."""
    return _supervised(names.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Mapping[str, Any],
    loss: Mapping[str, Any] | None,
    predictions: Mapping[str, Any] | None = None,
    metrics: Mapping[str, Any] | None = None,
) -> Any:
    """Of an evaluation: tensors by name. ValueError without inputs."""
    return _supervised(names.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


def _supervised(method: str, inputs: Mapping[str, Any], *outputs: Mapping[str, Any] | None) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    infos: list[dict[str, Any]] = [
        {name: build_tensor_info(tensor) for name, tensor in (given or {}).items()} for given in (inputs, *outputs)
    ]
    return build_signature_def(infos[0], {name: info for made in infos[1:] for name, info in made.items()}, method)


def op_signature_def(op: Operation, key: str) -> Any:
    """Of an operation, under `key` among the outputs."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def: Any, key: str, import_scope: str | None = None) -> Any:
    """That operation, or tensor, in the default graph. NotFoundError where it is not there."""
    name = signature_def.outputs[key].name if key in signature_def.outputs else ""
    try:
        return get_default_graph().as_graph_element(f"{import_scope}/{name}" if import_scope else name)
    except (ValueError, KeyError) as error:
        raise NotFoundError(None, None, f"The {key} could not be found in the graph: {error}") from error
