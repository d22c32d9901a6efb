"""What `tensorflow.python.framework.ops` knows by name: gradients, messages of collections. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from typing import Any

from tfexp.core import op
from tfexp.core.op import get_gradient
from tfexp.train.meta_graph import proto_functions


class _Entry:
    """The rule of one name, under "type": programs that explain models put theirs in its place for a while."""

    def __init__(self, name: str):
        self._name = name

    def __getitem__(self, key: str) -> Any:
        _check_key(key)
        return get_gradient(self._name)

    def __setitem__(self, key: str, rule: Any) -> None:
        _check_key(key)
        op.replace_gradient(self._name, rule)


def _check_key(key: str) -> None:
    if key != "type":
        raise KeyError(key)


class _Entries(Mapping[str, _Entry]):
    """The rules by name. Whoever goes through the names sees those of what was used so far."""

    def __getitem__(self, name: str) -> _Entry:
        try:
            get_gradient(name)
        except LookupError:
            raise KeyError(name) from None
        return _Entry(name)

    def __iter__(self) -> Iterator[str]:
        return iter(op.registered_gradients())

    def __len__(self) -> int:
        return len(op.registered_gradients())


class _Gradients:
    """The gradients' rules, by name."""

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
