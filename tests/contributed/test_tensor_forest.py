"""Random forests that grow while examples come in (tf.contrib.tensor_forest)."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import tfexp as tf
from tfexp.formats.protos.decision_trees import FertileStats, Model, TreePath
from tfexp.ops import forest_ops, shared_resources

tensor_forest = tf.contrib.tensor_forest.python.tensor_forest

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def filled(**settings):
    return tensor_forest.ForestHParams(**{"num_trees": 1, "base_random_seed": 3, **settings}).fill()


class Forest:
    """A forest and the session it is in."""

    def __init__(self, params, is_regression=False):
        labels = [None, params.num_classes] if is_regression else [None]
        self.x = tf.placeholder(tf.float32, [None, params.num_features])
        self.y = tf.placeholder(tf.float32 if is_regression else tf.int32, labels)
        self.graphs = tensor_forest.RandomForestGraphs(params)
        self.step = self.graphs.training_graph(self.x, self.y)
        self.outputs = self.graphs.inference_graph(self.x)
        self.size = self.graphs.average_size()
        self.session = tf.Session()
        made = shared_resources.initialize_resources(shared_resources.shared_resources())
        self.session.run(tf.group(tf.global_variables_initializer(), made))
        own = self.graphs.variables[0]
        stats = forest_ops.fertile_stats_serialize(own.stats, params=params.serialized_params_proto)
        self._written = [stats, forest_ops.tree_serialize(own.tree)]

    def train(self, x, y):
        self.session.run(self.step, {self.x: x, self.y: y})

    def infer(self, x):
        return self.session.run(self.outputs, {self.x: x})

    def written(self):
        stats, tree = self.session.run(self._written)
        return FertileStats.FromString(stats), Model.FromString(tree).decision_tree


def counts(stat):
    return [value.float_value for value in stat.classification.dense_counts.value]


def test_a_forest_learns_digits():
    digits = load_digits()
    x, y = digits.data.astype(np.float32), digits.target
    forest = Forest(filled(num_classes=10, num_features=64, num_trees=7, max_nodes=300, split_after_samples=25))
    for start in range(0, 4500, 300):
        rows = np.arange(start, start + 300) % 1500
        forest.train(x[rows], y[rows])
    probabilities, paths, variance = forest.infer(x[1500:])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert paths.shape == (0, 7)
    assert variance.shape == (297, 10) and (variance >= 0).all()
    assert np.mean(probabilities.argmax(axis=1) == y[1500:]) > 0.75
    importances = forest.session.run(forest.graphs.feature_importances())
    assert importances.shape == (64,) and abs(importances.sum() - 1) < 1e-6
    assert importances[0] == 0  # a pixel that is always empty


def test_first_examples_are_candidates_and_the_others_are_counted():
    params = filled(num_classes=2, num_features=1, num_splits_to_consider=2, split_after_samples=5, checkpoint_stats=True)
    forest = Forest(params)
    forest.train([[1.0], [3.0], [0.0], [2.0]], [0, 1, 0, 1])
    (slot,), tree = forest.written()[0].node_to_slot, forest.written()[1]
    tests = [candidate.split.inequality_left_child_test for candidate in slot.candidates]
    assert [test.threshold.float_value for test in tests] == [1.0, 3.0]
    assert counts(slot.post_init_leaf_stats) == [1, 1]
    assert [counts(candidate.left_stats) for candidate in slot.candidates] == [[1, 0], [1, 1]]
    assert [value.float_value for value in tree.nodes[0].leaf.vector.value] == [2, 2]
    forest.train([[0.5], [2.5], [4.0]], [0, 1, 1])  # the second candidate divides less well
    stats, tree = forest.written()
    assert tree.nodes[0].binary_node.inequality_left_child_test.threshold.float_value == 1.0
    leaves = [[value.float_value for value in node.leaf.vector.value] for node in tree.nodes[1:]]
    assert leaves == [[2, 0], [0, 3]]
    assert [(slot.node_id, slot.depth, len(slot.candidates)) for slot in stats.node_to_slot] == [(1, 1, 0), (2, 1, 0)]
    np.testing.assert_array_equal(forest.infer([[1.0], [1.5]])[0], [[1, 0], [0, 1]])


def test_leaves_of_numbers_have_the_means_of_their_examples():
    params = filled(num_classes=2, num_features=1, regression=True, num_splits_to_consider=1, split_after_samples=4)
    forest = Forest(params, is_regression=True)
    forest.train([[1.0], [0.0], [1.0], [2.0], [3.0]], [[9.0, 9.0], [1.0, 5.0], [3.0, 5.0], [6.0, 7.0], [8.0, 7.0]])
    np.testing.assert_array_equal(forest.infer([[0.5], [2.5]])[0], [[2, 5], [7, 7]])


@pytest.mark.parametrize(("step", "classes", "size"), [(1.0, 1, 1), (0.0, 2, 1), (1.0, 2, 3)])
def test_no_split_of_one_class_or_of_equal_values(step, classes, size):
    forest = Forest(filled(num_classes=2, num_features=1, split_after_samples=5, num_splits_to_consider=2))
    forest.train(step * (np.arange(20.0)[:, np.newaxis] * 7 % 20), np.arange(20) % classes)
    assert forest.session.run(forest.size) == size


@pytest.mark.parametrize(("most", "size"), [(4, 5), (5, 5), (6, 7)])
def test_trees_stop_growing_when_they_are_full(most, size):
    forest = Forest(filled(num_classes=2, num_features=1, split_after_samples=5, max_nodes=most))
    random = np.random.RandomState(0)
    for _ in range(40):
        x = random.rand(50, 1)
        forest.train(x, (x[:, 0] * 16).astype(int) % 2)
    assert forest.session.run(forest.size) == size


def test_paths_are_of_the_nodes_visited():
    params = filled(
        num_classes=2, num_features=1, num_splits_to_consider=1, split_after_samples=2, inference_tree_paths=True
    )
    forest = Forest(params)
    (path,) = forest.infer([[1.0]])[1][0]
    assert path == b"\n\x08*\x06\n\x04\n\x00\n\x00"
    forest.train([[1.0], [0.0], [2.0]], [0, 0, 1])
    (path,) = forest.infer([[1.5]])[1][0]
    kinds = [node.WhichOneof("node_type") for node in TreePath.FromString(path).nodes_visited]
    assert kinds == ["binary_node", "leaf"]


def test_checkpoints_have_trees_and_statistics(tmp_path):
    params = filled(num_classes=2, num_features=1, num_splits_to_consider=2, split_after_samples=5, checkpoint_stats=True)
    forest = Forest(params)
    saver = tf.train.Saver()
    forest.train([[1.0], [3.0], [0.0], [2.0]], [0, 1, 0, 1])
    before = forest.written()
    path = saver.save(forest.session, str(tmp_path / "forest"))
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == ["device_dummy_0", "stats-0:0", "tree-0:0"]
    forest.train([[0.5], [2.5], [4.0]], [0, 1, 1])
    assert forest.session.run(forest.size) == 3
    saver.restore(forest.session, path)
    assert forest.written() == before


def test_settings_follow_from_others():
    params = tensor_forest.ForestHParams(num_classes=3, num_features=784, feature_bagging_fraction=0.5, num_trees=2).fill()
    assert (params.num_splits_to_consider, params.num_outputs, params.num_output_columns) == (28, 1, 4)
    assert [len(set(features)) for features in params.bagged_features] == [392, 392]
    proto = tensor_forest.build_params_proto(params)
    assert (proto.num_outputs, proto.split_after_samples.constant_value) == (3, 250)
    with pytest.raises(AttributeError, match="num_features"):
        tensor_forest.ForestHParams(num_classes=3).fill()
    with pytest.raises(KeyError, match="other"):
        tensor_forest.ForestHParams(num_classes=3, num_features=2, model_name="other").fill()


def test_settings_that_depend_on_the_depth():
    deeper = "linear {y_intercept: 2 slope: 7 max_val: 99}"
    params = filled(num_classes=2, num_features=1, num_splits_to_consider=1, split_after_samples=deeper)
    forest = Forest(params)
    forest.train([[1.0], [0.0], [2.0]], [0, 0, 1])
    assert forest.session.run(forest.size) == 3
    forest.train([[0.5], [0.0], [1.0], [0.2]], [0, 1, 1, 0])  # a leaf takes 9
    assert forest.session.run(forest.size) == 3


def test_bagging_takes_a_part_of_the_examples():
    params = filled(
        num_classes=2, num_features=2, bagging_fraction=0.5, feature_bagging_fraction=0.5, split_after_samples=1000
    )
    forest = Forest(params)
    forest.train(np.random.RandomState(0).rand(200, 2), np.arange(200) % 2)
    weights = [value.float_value for value in forest.written()[1].nodes[0].leaf.vector.value]
    assert 60 < sum(weights) < 140


def test_what_a_forest_cannot_be_is_said():
    forest = Forest(filled(num_classes=2, num_features=1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Labels must be in"):
        forest.train([[1.0]], [2])
    with pytest.raises(NotImplementedError, match="sparse"):
        forest.graphs.inference_graph(tf.SparseTensor([[0, 0]], [1.0], [1, 1]))
    with tf.Graph().as_default(), pytest.raises(tf.errors.UnimplementedError, match="pruning_type"):
        Forest(filled(num_classes=2, num_features=1, split_pruning_name="half"))


def test_nodes_of_a_tree_are_those_of_tensorflow():
    forest = Forest(filled(num_classes=2, num_features=3))
    graph = forest.x.graph
    (grown,) = (op for op in graph.get_operations() if op.type == "GrowTreeV4")
    assert [op.name for op in graph.get_operations() if op.name.startswith("tree-0")] == [
        "tree-0",
        "tree-0/CreateTreeVariable/tree_config",
        "tree-0/CreateTreeVariable",
        "tree-0/TreeIsInitializedOp",
        "tree-0/TreeSerialize",
    ]
    assert [op.name for op in grown.control_inputs] == ["UpdateModelV4"]
    assert graph.get_operation_by_name("tree-0").get_attr("shared_name") == b"tree-0/"
    spec = b"dense_features_size: 3 dense: [{name: dense_features original_type: 0 size: 3}] sparse: []"
    assert graph.get_operation_by_name("TraverseTreeV4").get_attr("input_spec") == spec
