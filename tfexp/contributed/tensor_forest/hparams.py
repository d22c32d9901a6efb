"""What a forest is asked to be, and the message that its ops read."""

from __future__ import annotations

import math
import numbers
import random
from typing import Any

from google.protobuf import text_format

from tfexp.formats.protos.decision_trees import TensorForestParams

# Numbers of the enums in `formats.protos.decision_trees`: (how leaves are kept, how statistics are).
_CLASSIFICATION = {"all_dense": (0, 0), "all_sparse": (1, 1), "sparse_then_dense": (3, 3)}
_REGRESSION = (2, 2)
_FINISH = {"basic": 0, "hoeffding": 2, "bootstrap": 3}
_PRUNING = {"none": 0, "half": 1, "quarter": 2, "10_percent": 3, "hoeffding": 4}
_SPLITS = {"less_or_equal": 0, "less": 1}


class ForestHParams:
    """Settings by their names; `num_classes` (for numbers: how many) and `num_features` are needed.

    `fill` adds what follows from them; it raises AttributeError where one of the two is missing, KeyError for a name of a
    kind that there is not.
    """

    def __init__(
        self,
        num_trees: int = 100,
        max_nodes: int = 10000,
        bagging_fraction: float = 1.0,
        num_splits_to_consider: Any = 0,
        feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0,
        split_after_samples: Any = 250,
        valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap",
        dominate_fraction: float = 0.99,
        model_name: str = "all_dense",
        split_finish_name: str = "basic",
        split_pruning_name: str = "none",
        prune_every_samples: Any = 0,
        early_finish_check_every_samples: Any = 0,
        collate_examples: bool = False,
        checkpoint_stats: bool = False,
        use_running_stats_method: bool = False,
        initialize_average_splits: bool = False,
        inference_tree_paths: bool = False,
        param_file: str | None = None,
        split_name: str = "less_or_equal",
        **kwargs: Any,
    ):
        given = {name: value for name, value in locals().items() if name not in ("self", "kwargs", "__class__")}
        self.__dict__.update(given, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def values(self) -> dict[str, Any]:
        return self.__dict__

    def fill(self) -> ForestHParams:
        classes, features = self.num_classes, self.num_features
        self.bagged_num_features = int(self.feature_bagging_fraction * features)
        self.bagged_features = None
        if self.feature_bagging_fraction < 1.0:
            self.bagged_features = [random.sample(range(features), self.bagged_num_features) for _ in range(self.num_trees)]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = classes if self.regression else 1
        self.num_output_columns = classes + 1
        root = math.floor(math.sqrt(features))
        self.num_splits_to_consider: Any = self.values()["num_splits_to_consider"] or min(max(10, root), 1000)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        kinds = _REGRESSION if self.regression else _CLASSIFICATION[self.model_name]
        self.leaf_model_type, self.stats_model_type = kinds
        self.finish_type = 0 if self.regression else _FINISH[self.split_finish_name]
        self.pruning_type = _PRUNING[self.split_pruning_name]
        self._set_period("prune_every_samples", self.pruning_type, 2)
        self._set_period("early_finish_check_every_samples", self.finish_type, 4)
        self.split_type = _SPLITS[self.split_name]
        return self

    def _set_period(self, name: str, kind: int, part: int) -> None:
        """After how many examples something is looked at: of the default kind never."""
        asked = self.values()[name]
        setattr(self, name, (asked or int(self.split_after_samples) / part) if kind else 0)


def build_params_proto(params: ForestHParams) -> Any:
    """The TensorForestParams of filled settings. A string is a number or a DepthDependentParam as text."""
    proto = TensorForestParams(
        num_trees=params.num_trees,
        max_nodes=params.max_nodes,
        is_regression=params.regression,
        num_outputs=params.num_classes,
        num_features=params.num_features,
        leaf_type=params.leaf_model_type,
        stats_type=params.stats_model_type,
        inequality_test_type=params.split_type,
        collate_examples=params.collate_examples,
        checkpoint_stats=params.checkpoint_stats,
        use_running_stats_method=params.use_running_stats_method,
        initialize_average_splits=params.initialize_average_splits,
        inference_tree_paths=params.inference_tree_paths,
    )
    proto.pruning_type.type, proto.finish_type.type = params.pruning_type, params.finish_type
    settings: tuple[tuple[Any, Any], ...] = (
        (proto.pruning_type.prune_every_samples, params.prune_every_samples),
        (proto.finish_type.check_every_steps, params.early_finish_check_every_samples),
        (proto.split_after_samples, params.split_after_samples),
        (proto.num_splits_to_consider, params.num_splits_to_consider),
        (proto.dominate_fraction, params.dominate_fraction),
    )
    for place, value in settings:
        if isinstance(value, numbers.Number) or value.isdigit():
            place.constant_value = float(value)
        else:
            text_format.Merge(value, place)
    if params.param_file:
        with open(params.param_file) as file:
            text_format.Merge(file.read(), proto)
    return proto
