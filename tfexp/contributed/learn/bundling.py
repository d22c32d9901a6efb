"""Estimators of `tf.contrib.learn` in session bundles, the exports of the time before SavedModel. Source: TF 1.15.

A signature function gives of the serialized Examples, the features and the predictions a default Signature and others by
names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.contributed.export_versions import largest_export_versions
from tfexp.contributed.learn.constants import PredictionKey
from tfexp.contributed.session_bundles import (
    Exporter,
    classification_signature,
    generic_signature,
    regression_signature,
)
from tfexp.core import dtypes
from tfexp.formats.checkpoint_state import latest_checkpoint
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.graph import Graph
from tfexp.graph.scopes import add_to_collection, get_collection
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder
from tfexp.ops.cast import cast
from tfexp.ops.parsing import FixedLenFeature, VarLenFeature, parse_example
from tfexp.ops.variable_lists import local_variables_initializer, tables_initializer
from tfexp.runtime.session import Session
from tfexp.train.global_step import create_global_step, get_global_step
from tfexp.train.saver import Saver

SignatureFn = Callable[[Any, Any, Any], tuple[Any, Mapping[str, Any]]]
_PARSED = {dtypes.int32: dtypes.int64, dtypes.float64: dtypes.float32}  # what an Example has instead


class AsFitted:
    """Parses Examples into features as a model has been fitted to: a tensor, or a dict of them."""

    def __init__(self, features: Any):
        self._is_one = not isinstance(features, Mapping)
        named = {"feature": features} if self._is_one else features
        self._dtypes = {name: one.dtype for name, one in named.items()}
        self._spec = {name: _parsed_like(one) for name, one in named.items()}

    def __call__(self, examples: Tensor) -> Any:
        parsed = parse_example(examples, self._spec)
        features = {
            name: one if one.dtype == self._dtypes[name] else cast(one, self._dtypes[name]) for name, one in parsed.items()
        }
        return features["feature"] if self._is_one else features


def _parsed_like(feature: Any) -> Any:
    dtype = _PARSED.get(feature.dtype, feature.dtype)
    return VarLenFeature(dtype) if isinstance(feature, SparseTensor) else FixedLenFeature(feature.shape[1:], dtype)


def generic_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """Of all predictions by their names; one tensor is `outputs`. ValueError without Examples."""
    named = predictions if isinstance(predictions, Mapping) else {"outputs": predictions}
    return generic_signature({"inputs": _required(examples), **named}), {}


def classification_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """Of classes. ValueError without Examples."""
    classes = _one_of(predictions, PredictionKey.CLASSES)
    return classification_signature(_required(examples), classes_tensor=classes), {}


def classification_signature_fn_with_prob(
    examples: Any, unused_features: Any, predictions: Any
) -> tuple[Any, dict[str, Any]]:
    """Of classes' probabilities, as scores. ValueError without Examples."""
    probabilities = _one_of(predictions, PredictionKey.PROBABILITIES)
    return classification_signature(_required(examples), scores_tensor=probabilities), {}


def regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """Of numbers. ValueError without Examples."""
    return regression_signature(_required(examples), predictions), {}


def logistic_regression_signature_fn(examples: Any, unused_features: Any, predictions: Any) -> tuple[Any, dict[str, Any]]:
    """Of the probabilities of the second of two classes, [batch, 2], as numbers. ValueError without Examples."""
    positive = _one_of(predictions, PredictionKey.PROBABILITIES)[:, 1]
    return regression_signature(_required(examples), positive), {}


def _required(examples: Any) -> Any:
    if examples is None:
        raise ValueError("examples cannot be None when using this signature fn.")
    return examples


def _one_of(predictions: Any, key: str) -> Any:
    return predictions[key] if isinstance(predictions, Mapping) else predictions


def export_estimator(
    estimator: Any,
    export_dir: str,
    signature_fn: SignatureFn | None = None,
    input_fn: Callable[[Any, Any], Any] | None = None,
    default_batch_size: int | None = 1,
    exports_to_keep: int | None = None,
) -> None:
    """Write a session bundle; input_fn: gives features of (estimator, Examples), by default such as have been fitted."""
    write_bundle(estimator, export_dir, signature_fn, input_fn, default_batch_size, exports_to_keep)


def write_bundle(
    estimator: Any,
    export_dir: str,
    signature_fn: SignatureFn | None,
    input_fn: Callable[..., Any] | None,
    default_batch_size: int | None,
    exports_to_keep: int | None,
    input_feature_key: str | None = None,
    use_deprecated_input_fn: bool = True,
    prediction_key: str | None = None,
    checkpoint_path: str | None = None,
) -> bytes:
    """The new bundle's folder, `export_dir/<step>`; see `Trainable.export`."""
    with Graph().as_default():
        create_global_step()
        examples, features = _input(estimator, input_fn, default_batch_size, input_feature_key, use_deprecated_input_fn)
        predictions = estimator._predictions(features)
        if prediction_key is not None:
            predictions = predictions[prediction_key]
        default, named = (signature_fn or generic_signature_fn)(examples, features, predictions)
        if not get_collection(GraphKeys.SAVERS):
            add_to_collection(GraphKeys.SAVERS, Saver())
        [saver, *_] = get_collection(GraphKeys.SAVERS)
        with Session() as session:
            saver.restore(session, checkpoint_path or latest_checkpoint(estimator.model_dir))
            exporter = Exporter(saver)
            exporter.init(
                init_op=group(local_variables_initializer(), tables_initializer()),
                default_graph_signature=default,
                named_graph_signatures=named,
                assets_collection=get_collection(GraphKeys.ASSET_FILEPATHS),
            )
            kept = None if exports_to_keep is None else largest_export_versions(exports_to_keep)
            return exporter.export(export_dir, get_global_step(), session, kept)


def _input(
    estimator: Any, input_fn: Any, batch_size: int | None, feature_key: str | None, is_of_examples: bool
) -> tuple[Any, Any]:
    """(the Examples, the features). ValueError where neither is there, and where `input_fn` is missing."""
    if is_of_examples:
        examples = placeholder(dtypes.string, [batch_size], name="input_example_tensor")
        return examples, estimator._parsed(examples) if input_fn is None else input_fn(estimator, examples)
    if input_fn is None:
        raise ValueError("input_fn must be defined.")
    features, _ = input_fn()
    raw = None if feature_key is None else features.pop(feature_key)
    if not features and raw is None:
        raise ValueError("Either features or examples must be defined.")
    return raw, features
