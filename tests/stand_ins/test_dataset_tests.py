"""What TensorFlow's own tests of data sets derive from, and the modules they take data sets apart with."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.stand_ins.dataset_saving_tests import DatasetSerializationTestBase
from tfexp.stand_ins.dataset_tests import DatasetTestBase, FilterTestBase, default_test_combinations
from tfexp.stand_ins.modules import stand_for
from tfexp.stand_ins.option_groups import OptionsBase, create_option, merge_options

D = tf.data.Dataset
structure = stand_for("tensorflow.python.data.util.structure")
sparse = stand_for("tensorflow.python.data.util.sparse")
test_util = stand_for("tensorflow.python.framework.test_util")


class TestFilters(FilterTestBase):
    def apply_filter(self, input_dataset, predicate):
        return input_dataset.filter(predicate)


def test_specs_of_what_stands_for_an_element():
    ragged = D.from_tensors((np.int32([1]), tf.ragged.constant([[1], [2, 3]])))
    specs = structure.get_flat_tensor_specs(ragged.element_spec)
    assert [(spec.shape.as_list() if spec.shape.rank else None, spec.dtype) for spec in specs] == [
        ([1], tf.int32),
        (None, tf.variant),
    ]
    assert [list(one.items()) for one in default_test_combinations()[:2]] == [
        [("mode", "eager"), ("tf_api_version", 1)],
        [("mode", "eager"), ("tf_api_version", 2)],
    ]


@test_util.run_all_in_graph_and_eager_modes
class TestElements(DatasetTestBase):
    def test_all_kinds_of_components(self):
        value = tf.SparseTensorValue([[0]], [3], [2])
        made = D.range(3, 4).map(lambda i: (i, tf.SparseTensor([[0]], [i], [2]), tf.RaggedTensor.from_tensor([[i]])))
        self.assertDatasetProduces(made, [(3, value, tf.compat.v1.ragged.constant_value([[3]]))])
        with pytest.raises(AssertionError):
            self.assertDatasetProduces(made, [(3, value, tf.compat.v1.ragged.constant_value([[4]]))])
        with pytest.raises(AssertionError):
            self.assertDatasetProduces(D.range(3), [0, 1])

    def test_errors(self):
        bad = D.range(3).map(lambda i: tf.check_numerics(1.0 / tf.cast(i - 1, tf.float32), "nought"))
        self.assertDatasetProduces(bad, expected_error=(tf.errors.InvalidArgumentError, "nought"), expected_error_iter=2)
        again = D.range(1, 3).map(lambda i: tf.check_numerics(1.0 / tf.cast(i - 1, tf.float32), "naught"))
        self.assertDatasetsRaiseSameError(again, bad.skip(1), tf.errors.InvalidArgumentError, [("naught", "nought")])

    def test_structured(self):
        self.assertDatasetProduces(self.structuredDataset((None, (None,))), [(0, (0,))])
        assert self.structuredElement((None,), shape=[2])[0].shape.as_list() == [2]


class TestSaving(DatasetSerializationTestBase):
    def test_positions_are_kept(self):
        self.run_core_tests(lambda: D.range(7).shuffle(3, seed=1).batch(2), 4)
        self.gen_outputs(lambda: D.range(5), [], 2, verify_exhausted=False)
        assert self.gen_outputs(lambda: D.range(10, 15), [], 3, ckpt_saved=True, save_checkpoint_at_end=False) == [
            12,
            13,
            14,
        ]
        with pytest.raises(tf.errors.InvalidArgumentError, match="saved of a data set of another form"):
            self.gen_outputs(lambda: D.range(5).map(lambda i: i * 2), [], 3, ckpt_saved=True)

    def test_variables_are_initialized(self):
        def build():
            variable = tf.get_variable("v", initializer=np.int64(7), use_resource=True)
            return D.range(3).map(lambda i: i + variable)

        assert self.gen_outputs(build, [1], 3) == [7, 8, 9]

    def test_what_differs_is_seen(self):
        self.does_not_match([1, {"a": 2}], [1, {"a": 3}])
        self.verify_error_on_save(
            lambda: D.from_generator(lambda: iter([1, 2]), tf.int64), 2, tf.errors.FailedPreconditionError
        )


class _Group(OptionsBase):
    x = create_option("x", int, "A number.", default_factory=lambda: 42)
    y = create_option("y", float, "Another one.", default=3.5)


def test_groups_of_options():
    group, other = _Group(), _Group()
    assert (group.x, group.y, group == other, _Group.x.__doc__) == (42, 3.5, True, "A number.")
    group.x, other.y = 1, 0.0
    merged = merge_options(group, other)
    assert (merged.x, merged.y, group != other) == (1, 0.0, True)
    with pytest.raises(TypeError, match="must be of type <class 'int'>, got: 'a'"):
        group.x = "a"
    with pytest.raises(AttributeError, match="Cannot set the property z on _Group"):
        group.z = 1
    with pytest.raises(ValueError, match="At least one"):
        merge_options()
    with pytest.raises(TypeError, match="Incompatible options types"):
        merge_options(group, tf.data.Options())


class _Around(OptionsBase):
    group = create_option("group", _Group, "A group in a group.")


def test_groups_in_groups_need_no_default():
    one, other = _Around(), _Around()
    assert merge_options(one, other).group is None
    one.group = _Group()
    one.group.x = 1
    assert [merge_options(*pair).group.x for pair in ((one, other), (other, one))] == [1, 1]
    other.group = _Group()
    other.group.y = 0.0
    merged = merge_options(one, other).group
    assert (merged.x, merged.y, one.group.y) == (1, 0.0, 3.5)


def test_structures_of_elements():
    with tf.Graph().as_default():
        element = {"a": tf.zeros([2, 3]), "b": tf.SparseTensor([[0, 1]], [1], [2, 5])}
        spec = structure.type_spec_from_value(element)
        assert spec == {"a": tf.TensorSpec([2, 3]), "b": tf.SparseTensorSpec([2, 5], tf.int32)}
        assert structure.get_flat_tensor_types(spec) == [tf.float32, tf.variant]
        assert structure.are_compatible(spec, {**spec, "a": tf.TensorSpec([None, 3])})
        assert not structure.are_compatible(spec, {"a": spec["a"]})
        back = structure.from_tensor_list(spec, structure.to_tensor_list(spec, element))
        rows = structure.to_batched_tensor_list(spec, element)
        assert back["b"].dense_shape.shape.as_list() == [2] and rows[1].shape.as_list() == [None, 3]
        with pytest.raises(ValueError, match="Expected 2 tensors but got 1"):
            structure.from_tensor_list(spec, rows[:1])
        with pytest.raises(ValueError, match="not convertible"):
            structure.to_tensor_list(spec, {**element, "a": tf.zeros([3])})
        assert sparse.any_sparse(sparse.get_classes(element))
        stored = sparse.serialize_sparse_tensors(element)
        types, shapes = {"a": tf.float32, "b": tf.int32}, {"a": tf.TensorShape([2, 3]), "b": tf.TensorShape([2, 5])}
        found = sparse.deserialize_sparse_tensors(stored, types, shapes, sparse.get_classes(element))
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(tf.sparse.to_dense(found["b"])), [[0, 1, 0, 0, 0], [0] * 5])


def test_arguments_and_the_graph_around():
    convert = stand_for("tensorflow.python.data.util.convert")
    traverse = stand_for("tensorflow.python.data.util.traverse")
    with tf.Graph().as_default(), tf.Session() as session:
        shapes = [tf.TensorShape([None, 2]), [3, -1], 4, tf.constant(5, tf.int64)]
        assert [list(session.run(convert.partial_shape_to_tensor(s))) for s in shapes] == [[-1, 2], [3, -1], [4], [5]]
        assert session.run(convert.optional_param_to_tensor("n", None, 7)) == 7
        for wrong, error in ((tf.constant([[1]], tf.int64), ValueError), (tf.constant([1]), TypeError)):
            with pytest.raises(error, match=r"must be a 1-D tensor of tf.int64 values"):
                convert.partial_shape_to_tensor(wrong)
        ops = traverse.obtain_all_variant_tensor_ops(D.zip((D.range(2), D.range(3).batch(2))))
        assert [op.type for op in ops] == ["ZipDataset", "RangeDataset", "BatchDatasetV2", "RangeDataset"]
