"""`tf.saved_model`: which tensors of a graph a request gives, and which it gets. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef, TensorInfo

from tfexp.core import dtypes
from tfexp.graph.scopes import get_default_graph
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.train import saved_model_names as names

# --- tensors ------------------------------------------------------------------------------------------------------------


def build_tensor_info(tensor: Any) -> TensorInfo:
    """A Tensor or a SparseTensor by name, with its type (of a reference: that) and shape; what is of other parts, by theirs.

    `tf.saved_model.build_tensor_info`.
    """
    info = TensorInfo(dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum)
    info.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info: Any, graph: Any = None, import_scope: str | None = None) -> Any:
    """The tensor of `graph` (the default graph) that an info names, below `import_scope`.

    KeyError where it is not there, ValueError for an info that names none. `tf.saved_model.get_tensor_from_tensor_info`.
    """
    graph = graph or get_default_graph()

    def find(name: str) -> Tensor:
        tensor: Tensor = graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)
        return tensor

    kind = tensor_info.WhichOneof("encoding")
    if kind == "name":
        return find(tensor_info.name)
    if kind == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            find(parts.indices_tensor_name), find(parts.values_tensor_name), find(parts.dense_shape_tensor_name)
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {kind}")


# --- signatures ---------------------------------------------------------------------------------------------------------


def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:
    """A signature of infos. `tf.saved_model.build_signature_def`."""
    signature = SignatureDef(method_name=method_name or "")
    for ours, given in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for key, info in (given or {}).items():
            ours[key].CopyFrom(info)
    return signature


def _infos(tensors: Mapping[str, Any], what: str, method: str) -> dict[str, TensorInfo]:
    if not tensors:
        raise ValueError(f"{method} {what} cannot be None or empty.")
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """Of tensors, for prediction. ValueError without inputs or outputs. `tf.saved_model.predict_signature_def`."""
    given, made = _infos(inputs, "inputs", "Prediction"), _infos(outputs, "outputs", "Prediction")
    return build_signature_def(given, made, names.PREDICT_METHOD_NAME)


def _string_info(tensor: Any, message: str) -> TensorInfo:
    info = build_tensor_info(tensor)
    if info.dtype != dtypes.string.as_datatype_enum:
        raise ValueError(message)
    return info


def regression_signature_def(examples: Any, predictions: Any) -> SignatureDef:
    """Of serialized Examples (strings) and their predictions (float32). `tf.saved_model.regression_signature_def`."""
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Regression examples must be a string Tensor.")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    given = _string_info(examples, "Regression examples must be a string Tensor.")
    made = build_tensor_info(predictions)
    if made.dtype != dtypes.float32.as_datatype_enum:
        raise ValueError("Regression output must be a float Tensor.")
    return build_signature_def({names.REGRESS_INPUTS: given}, {names.REGRESS_OUTPUTS: made}, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> SignatureDef:
    """Of serialized Examples, class names (strings), scores (float32), or one of them. TF symbol of this name."""
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    if not isinstance(examples, Tensor):
        raise ValueError("Classification examples must be a string Tensor.")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    given = _string_info(examples, "Classification examples must be a string Tensor.")
    made = {}
    if classes is not None:
        made[names.CLASSIFY_OUTPUT_CLASSES] = _string_info(classes, "Classification classes must be a string Tensor.")
    if scores is not None:
        info = build_tensor_info(scores)
        if info.dtype != dtypes.float32.as_datatype_enum:
            raise ValueError("Classification scores must be a float Tensor.")
        made[names.CLASSIFY_OUTPUT_SCORES] = info
    return build_signature_def({names.CLASSIFY_INPUTS: given}, made, names.CLASSIFY_METHOD_NAME)


def is_valid_signature(signature_def: Any) -> bool:
    """Whether a server can serve it: one of the three methods, with what that needs. TF symbol of this name."""
    if signature_def is None:
        return False
    inputs, outputs = signature_def.inputs, signature_def.outputs
    strings, floats = dtypes.string.as_datatype_enum, dtypes.float32.as_datatype_enum
    if signature_def.method_name == names.CLASSIFY_METHOD_NAME:
        types = {names.CLASSIFY_OUTPUT_CLASSES: strings, names.CLASSIFY_OUTPUT_SCORES: floats}
        return (
            set(inputs) == {names.CLASSIFY_INPUTS}
            and inputs[names.CLASSIFY_INPUTS].dtype == strings
            and bool(outputs)
            and all(types.get(key) == outputs[key].dtype for key in outputs)
        )
    if signature_def.method_name == names.REGRESS_METHOD_NAME:
        return (
            set(inputs) == {names.REGRESS_INPUTS}
            and inputs[names.REGRESS_INPUTS].dtype == strings
            and set(outputs) == {names.REGRESS_OUTPUTS}
            and outputs[names.REGRESS_OUTPUTS].dtype == floats
        )
    if signature_def.method_name == names.PREDICT_METHOD_NAME:
        return bool(inputs) and bool(outputs)
    return False
