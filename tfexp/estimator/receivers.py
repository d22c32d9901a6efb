"""`tf.estimator.export`: what a served model receives. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.sparse_tensor import SparseTensor
from tfexp.graph.tensor import Tensor
from tfexp.ops.array_identity import placeholder
from tfexp.ops.parsing import parse_example
from tfexp.ragged_tensors.tensor import RaggedTensor

_TENSORS = Tensor | SparseTensor | RaggedTensor


class _Fields(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, dict[str, Any]] | None


class ServingInputReceiver(_Fields):
    """The tensors that a request is fed to, and the features that are made of them for the model.

    Each is a tensor or a dict of them; `receiver_tensors_alternatives` has others that may be fed instead, by name.
    ValueError for what is none.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Mapping[str, Any] | None = None
    ) -> ServingInputReceiver:
        return super().__new__(
            cls,
            _named(features, "feature", "feature", takes_numbers=True),
            _named(receiver_tensors, "input", "receiver_tensor"),
            _alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_Fields):
    """The same for a model function that takes one tensor as its features, which stays as it is."""

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Mapping[str, Any] | None = None
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        if not isinstance(features, _TENSORS):
            raise ValueError("feature must be a Tensor or SparseTensor, or a RaggedTensor.")
        receiver_tensors = _named(receiver_tensors, "input", "receiver_tensor")
        return super().__new__(cls, features, receiver_tensors, _alternatives(receiver_tensors_alternatives))


class _SupervisedFields(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: None


class SupervisedInputReceiver(_SupervisedFields):
    """What an exported training or evaluation receives: features and labels."""

    __slots__ = ()

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        for what, given in (("feature", features), ("label", labels)):
            _named(given, what, what, takes_numbers=True)
        return super().__new__(cls, features, labels, _named(receiver_tensors, "input", "receiver_tensor"), None)


def _named(given: Any, single: str, what: str, takes_numbers: bool = False) -> dict[Any, Any]:
    if given is None:
        raise ValueError(f"{what}s must be defined.")
    named = dict(given) if isinstance(given, Mapping) else {single: given}
    for name, tensor in named.items():
        if not isinstance(name, str) and not (takes_numbers and isinstance(name, int)):
            raise ValueError(f"{what} keys must be strings: {name}.")
        if not isinstance(tensor, _TENSORS):
            raise ValueError(f"{what} {name} must be a Tensor or SparseTensor, or a RaggedTensor.")
    return named


def _alternatives(given: Any) -> dict[str, dict[str, Any]] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {given}.")
    return {name: _named(tensors, "input", "receiver_tensors_alternative") for name, tensors in given.items()}


# --- receiver functions -------------------------------------------------------------------------------------------------


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function of a receiver of serialized `tf.Example`s, parsed as `tf.parse_example` does."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, dict(feature_spec)), {"examples": serialized})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A function of a receiver of the features themselves: placeholders of their names, types and shapes, of whose batch
    dimension `default_batch_size` is the size."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        received = _placeholders(features, default_batch_size)
        return ServingInputReceiver(received, dict(received))

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """The same for features and labels (dicts or tensors), whose names must differ: ValueError."""
    if isinstance(features, Mapping) and isinstance(labels, Mapping):
        both = sorted(set(features) & set(labels))
        if both:
            raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {', '.join(both)}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        def received(given: Any, single: str) -> tuple[Any, dict[str, Any]]:
            made = _placeholders(given if isinstance(given, Mapping) else {single: given}, default_batch_size)
            return (made if isinstance(given, Mapping) else made[single]), made

        made_features, named_features = received(features, "input")
        made_labels, named_labels = received(labels, "label")
        return SupervisedInputReceiver(made_features, made_labels, {**named_features, **named_labels})

    return supervised_input_receiver_fn


def _placeholders(features: Mapping[str, Any], batch_size: int | None) -> dict[str, Any]:
    made = {}
    for name, tensor in features.items():
        own = tensor.shape if tensor.shape.ndims is None else TensorShape([batch_size]).concatenate(tensor.shape[1:])
        made[name] = placeholder(tensor.dtype.base_dtype, own, name=tensor.op.name)
    return made
