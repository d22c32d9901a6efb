"""What `tensorflow.python.framework.ops` knows by name: gradients, messages of collections. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfexp.core import op
from tfexp.core.op import get_gradient
from tfexp.train.meta_graph import proto_functions


class _Gradients:
    """The gradients' rules; `_registry` has those of what was used so far, which programs ask for names of their own."""

    @property
    def _registry(self) -> Mapping[str, Any]:
        return op.registered_gradients()

    def register(self, candidate: Any, name: str) -> None:
        op.register_gradient(name, candidate)

    def lookup(self, name: str) -> Any:
        return get_gradient(name)

    def list(self) -> Any:
        return self._registry.keys()


_gradient_registry = _Gradients()


def get_collection_proto_type(collection_name: str) -> Any:
    """The class of messages that a collection's items become; None where nothing was registered."""
    return proto_functions(collection_name)[0]


def get_to_proto_function(collection_name: str) -> Any:
    return proto_functions(collection_name)[1]


def get_from_proto_function(collection_name: str) -> Any:
    return proto_functions(collection_name)[2]


def _set_call_cpp_shape_fn(call_cpp_shape_fn: Any) -> None:
    """Shapes are what the op's own rule says."""
