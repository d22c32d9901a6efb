"""What `tensorflow.python.framework.ops` knows by name: gradients, messages of collections. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, MutableMapping
from typing import Any

from tfexp.core import op
from tfexp.core.op import get_gradient
from tfexp.train.meta_graph import proto_functions


class _Entry(Mapping[str, Any]):
    """The rule of one name, under "type"; under "location" the module that it comes from."""

    def __init__(self, name: str):
        self._name = name

    def __getitem__(self, key: str) -> Any:
        rule = get_gradient(self._name)
        return {"type": rule, "location": getattr(rule, "__module__", None)}[key]

    def __setitem__(self, key: str, rule: Any) -> None:
        if key != "type":
            raise KeyError(key)
        op.set_gradient(self._name, rule)

    def __iter__(self) -> Iterator[str]:
        return iter(("type", "location"))

    def __len__(self) -> int:
        return 2


class _Entries(MutableMapping[str, Mapping[str, Any]]):
    """The rules by name. Whoever goes through the names sees those of what was used so far."""

    def __getitem__(self, name: str) -> _Entry:
        try:
            get_gradient(name)
        except LookupError:
            raise KeyError(name) from None
        return _Entry(name)

    def __setitem__(self, name: str, entry: Mapping[str, Any]) -> None:
        op.set_gradient(name, entry["type"])

    def __delitem__(self, name: str) -> None:
        op.remove_gradient(name)

    def __iter__(self) -> Iterator[str]:
        return iter(op.registered_gradients())

    def __len__(self) -> int:
        return len(op.registered_gradients())


class _Gradients:
    """The gradients' rules by name. Programs that explain models put theirs into `_registry` for a while."""

    def __init__(self) -> None:
        self._registry = _Entries()

    def register(self, candidate: Any, name: str) -> None:
        op.register_gradient(name, candidate)

    def lookup(self, name: str) -> Any:
        return get_gradient(name)

    def list(self) -> KeysView[str]:
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
