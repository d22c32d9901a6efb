"""What every function of `tf.contrib.layers` does around its layer: names, collections, outputs. Source: TF 1.15."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tfexp.contributed.variables import model_variable
from tfexp.graph.scopes import add_to_collection, add_to_collections, get_collection, get_default_graph
from tfexp.ops.partitioned_variable import PartitionedVariable

# What tf.layers calls a variable, and what tf.contrib.layers does.
_NAMES = {
    "kernel": "weights",
    "bias": "biases",
    "depthwise_kernel": "depthwise_weights",
    "pointwise_kernel": "pointwise_weights",
}


def variable_getter(renames: Mapping[str, str] = _NAMES) -> Callable[..., Any]:
    """The custom getter under which layers, and what normalises and activates, make model variables of other names."""

    def renaming(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        scope, _, short = name.rpartition("/")
        short = renames.get(short, short)
        whole = f"{scope}/{short}" if scope else short
        return model_variable(whole, *args, custom_getter=getter, **kwargs)

    return renaming


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections of the variable of that name: of a dict its own, else all."""
    return variables_collections.get(name) if isinstance(variables_collections, Mapping) else variables_collections


def keep(variables_collections: Any, **variables: Any) -> None:
    """Put variables of a layer (None: it has none), by contrib's names, in the collections of these names, once.

    They are what the layer computes with, which getters further out may have made of a variable.
    """
    for name, variable in variables.items():
        parts = variable if isinstance(variable, PartitionedVariable) else [] if variable is None else [variable]
        for collection in get_variable_collections(variables_collections, name) or []:
            for part in parts:
                if not any(part is known for known in get_collection(collection)):
                    add_to_collection(collection, part)


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """The tensor, which has one more name from here on; a slash at its end is dropped."""
    tensor.aliases = [*getattr(tensor, "aliases", []), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names that a tensor was given; its op's, if none."""
    return getattr(tensor, "aliases", None) or [tensor.op.name]


def collected(collections: Any, alias: str, outputs: Any) -> Any:
    """`outputs`, kept in the collections and known to `convert_collection_to_dict` as `alias`, a scope's name."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections([collections] if isinstance(collections, str) else collections, outputs)
    return outputs


def convert_collection_to_dict(collection: Any, clear_collection: bool = False) -> dict[str, Any]:
    """{alias: output} of a collection that `outputs_collections` filled."""
    found = {alias: tensor for tensor in get_collection(collection) for alias in get_tensor_aliases(tensor)}
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found


def finished(outputs: Any, normalizer_fn: Any, normalizer_params: Any, activation_fn: Any) -> Any:
    """Normalised, then activated."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return outputs if activation_fn is None else activation_fn(outputs)
