"""The graphs of a forest: its trees' variables, a step of training, what it says of examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfexp.contributed.tensor_forest.data_spec import DataSpec, features_and_spec, labels_of
from tfexp.contributed.tensor_forest.hparams import build_params_proto
from tfexp.contributed.variables import VariableDeviceChooser
from tfexp.core import dtypes
from tfexp.graph.collections import GraphKeys
from tfexp.graph.dependencies import group
from tfexp.graph.scopes import add_to_collection, control_dependencies, device, name_scope
from tfexp.graph.tensor import Tensor
from tfexp.ops import forest_ops
from tfexp.ops.array import shape, squeeze
from tfexp.ops.array_fill import ones_like
from tfexp.ops.array_gather import gather
from tfexp.ops.array_join import concat, stack
from tfexp.ops.array_mask import where_v2
from tfexp.ops.array_slice import strided_slice
from tfexp.ops.array_split import split
from tfexp.ops.cast import cast
from tfexp.ops.elementwise_binary import maximum
from tfexp.ops.elementwise_division import div
from tfexp.ops.elementwise_unary import neg
from tfexp.ops.random import random_uniform
from tfexp.ops.reduce import reduce_mean, reduce_sum
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.shared_resources import register_resource
from tfexp.ops.variable_scope import get_variable


class _Saveable(SaveableObject):
    """A handle whose state is a string; restoring it needs the resource made."""

    def __init__(self, handle: Tensor, saved: Tensor, create: Any, deserialize: Any, params: bytes):
        self._create, self._deserialize, self._params = create, deserialize, params
        super().__init__(handle, [SaveSpec(saved, "", handle.name)], handle.name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return self._deserialize(self.op, restored_tensors[0], params=self._params)


def stats_variable(params: bytes, config: Any, name: str) -> Tensor:
    """The handle of a tree's statistics, which is initialised and saved with the variables."""
    with name_scope(name, "FertileStatsVariable") as scope:
        handle: Tensor = forest_ops.fertile_stats_resource_handle(shared_name=scope, name=scope)
        create = forest_ops.create_fertile_stats_variable(handle, config, params=params)
        is_initialized = forest_ops.fertile_stats_is_initialized(handle)
        saved = forest_ops.fertile_stats_serialize(handle, params=params)
        saveable = _Saveable(handle, saved, create, forest_ops.fertile_stats_deserialize, params)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
        register_resource(handle, create, is_initialized)
        return handle


def tree_variable(params: bytes, config: Any, name: str) -> Tensor:
    """The handle of a tree's nodes, which is initialised and saved with the variables."""
    with name_scope(name, "TreeVariable") as scope:
        handle: Tensor = forest_ops.decision_tree_resource_handle(shared_name=scope, name=scope)
        create = forest_ops.create_tree_variable(handle, config, params=params)
        is_initialized = forest_ops.tree_is_initialized(handle)
        saved = forest_ops.tree_serialize(handle)
        saveable = _Saveable(handle, saved, create, forest_ops.tree_deserialize, params)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)
        register_resource(handle, create, is_initialized)
        return handle


class TreeVariables:
    """The handles `tree` and (None unless it is trained) `stats`."""

    def __init__(self, params: Any, tree_num: int, training: bool, tree_config: Any = "", tree_stat: Any = ""):
        if "params_proto" not in params.values():
            params.params_proto = build_params_proto(params)
        params.serialized_params_proto = serialized = params.params_proto.SerializeToString()
        self.stats = stats_variable(serialized, tree_stat, self.get_tree_name("stats", tree_num)) if training else None
        self.tree = tree_variable(serialized, tree_config, self.get_tree_name("tree", tree_num))

    def get_tree_name(self, name: str, num: int) -> str:
        return f"{name}-{num}"


class ForestVariables:
    """The TreeVariables of each tree. An empty variable of each, `device_dummies`, says which device the tree is on."""

    def __init__(
        self,
        params: Any,
        device_assigner: Any,
        training: bool = True,
        tree_variables_class: Any = TreeVariables,
        tree_configs: Sequence[Any] | None = None,
        tree_stats: Sequence[Any] | None = None,
    ):
        with device(device_assigner):
            self.device_dummies = [get_variable(name=f"device_dummy_{i}", shape=0) for i in range(params.num_trees)]
        given = {"tree_config": tree_configs, "tree_stat": tree_stats}
        self.variables = []
        for number, dummy in enumerate(self.device_dummies):
            with device(dummy.device):
                own = {name: texts[number] for name, texts in given.items() if texts is not None}
                self.variables.append(tree_variables_class(params, number, training, **own))

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


class RandomForestGraphs:
    """`params` must be filled."""

    def __init__(
        self,
        params: Any,
        tree_configs: Sequence[Any] | None = None,
        tree_stats: Sequence[Any] | None = None,
        device_assigner: Any = None,
        variables: Any = None,
        tree_variables_class: Any = TreeVariables,
        tree_graphs: Any = None,
        training: bool = True,
    ):
        self.params = params
        self.device_assigner = device_assigner or VariableDeviceChooser()
        self.variables = variables or ForestVariables(
            params,
            device_assigner=self.device_assigner,
            training=training,
            tree_variables_class=tree_variables_class,
            tree_configs=tree_configs,
            tree_stats=tree_stats,
        )
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[number], params, number) for number in range(params.num_trees)]

    def _own_features(self, number: int, data: Tensor) -> Tensor:
        if not self.params.bagged_features:
            return data
        columns = split(value=data, num_or_size_splits=self.params.num_features, axis=1)
        return concat([columns[chosen] for chosen in self.params.bagged_features[number]], 1)

    def get_all_resource_handles(self) -> list[Any]:
        own = [self.variables[number] for number in range(len(self.trees))]
        return [one.tree for one in own] + [one.stats for one in own]

    def training_graph(
        self, input_data: Any, input_labels: Any, num_trainers: int = 1, trainer_id: int = 0, **tree_kwargs: Any
    ) -> Any:
        """The operation that takes a batch in, of this trainer's share of the trees."""
        data, spec = features_and_spec(input_data)
        labels = labels_of(input_labels)
        share = self.params.num_trees / num_trainers
        grown = []
        for number in range(int(trainer_id * share), int((trainer_id + 1) * share)):
            with device(self.variables.device_dummies[number].device):
                seed = self.params.base_random_seed
                if seed != 0:
                    seed += number
                own, own_labels = data, labels
                if self.params.bagging_fraction < 1.0:
                    drawn = random_uniform(strided_slice(shape(data), [0], [1]), seed=seed)
                    is_in = drawn < ones_like(drawn) * self.params.bagging_fraction
                    rows = squeeze(where_v2(is_in), axis=[1])
                    own, own_labels = gather(data, rows), gather(labels, rows)
                own = self._own_features(number, own)
                grown.append(self.trees[number].training_graph(own, own_labels, seed, data_spec=spec, **tree_kwargs))
        return group(*grown, name="train")

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Tensor, Tensor, Tensor]:
        """(the trees' mean [examples, outputs], their paths [examples, trees] or none, their variance)."""
        data, spec = features_and_spec(input_data)
        said, paths = [], []
        for number in range(self.params.num_trees):
            with device(self.variables.device_dummies[number].device):
                values, path = self.trees[number].inference_graph(
                    self._own_features(number, data), spec, sparse_features=None, **inference_args
                )
                said.append(values)
                paths.append(path)
        with device(self.variables.device_dummies[0].device):
            values = stack(said, axis=1)
            mean = div(reduce_sum(values, 1), self.params.num_trees, name="probabilities")
            tree_paths = stack(paths, axis=1)
            of_squares = div(reduce_sum(values * values, 1), self.params.num_trees)
            return mean, tree_paths, maximum(0.0, of_squares - mean * mean)

    def average_size(self) -> Tensor:
        """How many nodes a tree has."""
        sizes = []
        for number, tree in enumerate(self.trees):
            with device(self.variables.device_dummies[number].device):
                sizes.append(tree.size())
        return reduce_mean(cast(stack(sizes), dtypes.float32))

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Tensor:
        """The more nodes the less."""
        return neg(self.average_size(), name=name)

    def validation_loss(self, features: Any, labels: Any) -> Tensor:
        return -self.average_size()

    def feature_importances(self) -> Tensor:
        """[features]: the part of all splits that is by each."""
        counts = reduce_sum(stack([tree.feature_usage_counts() for tree in self.trees], 0), 0)
        return counts / reduce_sum(counts)


class RandomTreeGraphs:
    """Those of one tree."""

    def __init__(self, variables: TreeVariables, params: Any, tree_num: int):
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(
        self,
        input_data: Any,
        input_labels: Any,
        random_seed: int,
        data_spec: DataSpec,
        sparse_features: Any = None,
        input_weights: Any = None,
    ) -> Any:
        """The operation that takes a batch in and splits what is ready. A seed of 0 is another one each time."""
        cast([0], dtypes.int32)  # TensorFlow's graphs have an epoch, which nothing reads
        tree, stats = self.variables.tree, self.variables.stats
        weights = [] if input_weights is None else input_weights
        params = self.params.serialized_params_proto
        sparse, spec = _sparse(sparse_features), data_spec.SerializeToString()
        leaves = forest_ops.traverse_tree_v4(tree, input_data, *sparse, input_spec=spec, params=params)
        updated = forest_ops.update_model_v4(tree, leaves, input_labels, weights, params=params)
        finished = forest_ops.process_input_v4(
            *(tree, stats, input_data, *sparse, input_labels, weights, leaves),
            random_seed=random_seed,
            input_spec=spec,
            params=params,
        )
        with control_dependencies([updated]):
            return forest_ops.grow_tree_v4(tree, stats, finished, params=params)

    def inference_graph(self, input_data: Any, data_spec: DataSpec, sparse_features: Any = None) -> Any:
        """(what it says of examples [examples, outputs], the paths to it or none)."""
        params = self.params.serialized_params_proto
        spec = data_spec.SerializeToString()
        return forest_ops.tree_predictions_v4(
            self.variables.tree, input_data, *_sparse(sparse_features), input_spec=spec, params=params
        )

    def size(self) -> Tensor:
        found: Tensor = forest_ops.tree_size(self.variables.tree)
        return found

    def feature_usage_counts(self) -> Tensor:
        found: Tensor = forest_ops.feature_usage_counts(self.variables.tree, params=self.params.serialized_params_proto)
        return found


def _sparse(features: Any) -> tuple[Any, Any, Any]:
    return ([], [], []) if features is None else (features.indices, features.values, features.dense_shape)
