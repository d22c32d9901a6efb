"""A graph's collections: lists by name (`trainable_variables`, `losses`, …). Source: `tf.GraphKeys`, TF 1.15."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any


class GraphKeys:
    """The standard names of collections."""

    GLOBAL_ITERATORS = "iterators"
    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = [
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
        TRAINABLE_RESOURCE_VARIABLES,
    ]
    VARIABLES = GLOBAL_VARIABLES  # the deprecated spelling


class Collections:
    """The part of `Graph` that keeps named lists."""

    def __init__(self) -> None:
        self._collections: dict[Any, list[Any]] = {}
        self._finalized = False

    def _check_not_finalized(self) -> None:
        raise NotImplementedError

    @property
    def collections(self) -> list[Any]:
        """The names of all collections."""
        return list(self._collections)

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Append `value`; a value may be in a collection more than once."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Append `value` to each of the (distinct) names; a single name may stand alone."""
        names = (names,) if isinstance(names, (str, bytes)) or not isinstance(names, Iterable) else set(names)
        for name in names:
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list itself: changing it changes the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of the list; with `scope`, only items whose `name` matches that regular expression from the start."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        matches = re.compile(scope).match
        return [item for item in items if hasattr(item, "name") and matches(item.name)]

    def get_all_collection_keys(self) -> list[str]:
        return [name for name in self._collections if isinstance(name, str)]

    def clear_collection(self, name: Any) -> None:
        self._check_not_finalized()
        self._collections.pop(name, None)
