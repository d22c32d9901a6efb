"""Data sets that are divided among workers and replicas, made in one of several ways, and functions mapped in a node."""

import numpy as np
import pytest

import tfexp as tf
from tests.data.running import elements, numbers, resumed
from tfexp.stand_ins import data_experiments as private
from tfexp.stand_ins.dataset_classes import StructuredFunctionWrapper, UnaryUnchangedStructureDataset

Dataset = tf.data.Dataset


@pytest.fixture
def files(tmp_path):
    """Five files of two records each."""
    names = [str(tmp_path / f"{i}.tfrecord") for i in range(5)]
    for i, name in enumerate(names):
        with tf.io.TFRecordWriter(name) as writer:
            writer.write(f"{i}a".encode())
            writer.write(f"{i}b".encode())
    return names


@pytest.mark.parametrize(
    "read",
    [
        tf.data.TFRecordDataset,
        lambda names: Dataset.from_tensor_slices(names).flat_map(tf.data.TFRecordDataset),
        lambda names: Dataset.list_files(names, shuffle=False).interleave(tf.data.TFRecordDataset, 3).map(tf.identity),
        lambda names: Dataset.list_files(names, shuffle=True).flat_map(tf.data.TFRecordDataset).cache(),
    ],
)
def test_files_are_divided_among_workers(files, read):
    assert elements(private._AutoShardDataset(read(files), 5, 3)) == [b"3a", b"3b"]


def test_shuffled_names_are_divided_before_they_are_shuffled(files):
    both = [Dataset.list_files(files).flat_map(tf.data.TFRecordDataset) for _ in range(2)]
    found = [elements(private._AutoShardDataset(dataset, 2, index)) for index, dataset in enumerate(both)]
    assert [sorted({name[:1] for name in half}) for half in found] == [[b"0", b"2", b"4"], [b"1", b"3"]]


def test_a_pair_of_which_one_reads_no_files_is_divided_by_elements(files):
    pairs = Dataset.zip((Dataset.range(20), tf.data.TFRecordDataset(files)))
    assert elements(private._AutoShardDataset(pairs, 5, 3)) == [(3, b"1b"), (8, b"4a")]


def test_workers_without_files_are_an_error(files):
    names = Dataset.from_tensor_slices(files).flat_map(tf.data.TFRecordDataset)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"# elems = 5, # shards = 7"):
        elements(private._AutoShardDataset(names, 7, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="index must be between 0 and 1"):
        elements(private._AutoShardDataset(names, 2, 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"# elems = 3, # shards = 4"):
        elements(private._AutoShardDataset(Dataset.range(3), 4, 0))


@pytest.mark.parametrize(("size", "drop", "shape"), [(8, True, [2]), (8, False, [None]), (6, True, [None])])
def test_batches_are_divided_among_replicas(size, drop, shape):
    parts = private._RebatchDataset(Dataset.range(18).batch(size, drop_remainder=drop), num_replicas=4)
    assert parts.output_shapes.as_list() == shape
    expected = [list(np.arange(18)[i : i + 2]) for i in range(0, 16, 2)]
    if size == 6:
        expected = [part for i in (0, 6, 12) for part in ([i, i + 1], [i + 2, i + 3], [i + 4, i + 5], [])]
    elif not drop:
        expected += [[16], [17], [], []]
    assert numbers(parts) == expected


def test_parts_of_batches_are_taken_up_where_they_were_saved(tmp_path):
    assert [list(part) for part in resumed(lambda: private._RebatchDataset(Dataset.range(12).batch(6), 3), 4, tmp_path)] == [
        [8, 9],
        [10, 11],
    ]


def test_scalars_are_no_batches():
    with pytest.raises(ValueError, match="is not batched"):
        private._RebatchDataset(Dataset.range(3), 2)


# --- alternatives ------------------------------------------------------------------------------------------------------


def test_one_of_several_ways_is_taken():
    assert numbers(private._ChooseFastestDataset([Dataset.range(3), Dataset.from_tensor_slices(np.arange(3))])) == [0, 1, 2]
    doubled = tf.constant(2, tf.int64)
    branches = [lambda d: d.map(lambda x: x * doubled).batch(2), lambda d: d.batch(2).map(lambda x: x + x)]
    assert numbers(private._ChooseFastestBranchDataset(Dataset.range(5), branches, ratio_numerator=2)) == [
        [0, 2],
        [4, 6],
        [8],
    ]


@pytest.mark.parametrize("other", [Dataset.range, lambda n: Dataset.from_tensors(1.5).repeat(n - 1)])
def test_ways_with_other_elements_are_refused(other):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"compatible cardinalities|same output types"):
        elements(private._ChooseFastestDataset([Dataset.range(3), other(4)]))


# --- functions ---------------------------------------------------------------------------------------------------------


def test_a_function_is_mapped_in_a_node():
    offset = tf.constant(100)
    double = tf.function(lambda x, y: (2 * x + offset, x + y), input_signature=[tf.TensorSpec([2], tf.int32)] * 2)
    rows = tf.constant([[1, 2], [3, 4], [5, 6]])
    results = private.map_defun(double, [rows, rows], [tf.int32, tf.int32], [(2,), (2,)])
    assert [result.shape.as_list() for result in results] == [[3, 2], [3, 2]]
    with tf.Session() as session:
        first, second = session.run(results)
    np.testing.assert_array_equal(first, [[102, 104], [106, 108], [110, 112]])
    np.testing.assert_array_equal(second, [[2, 4], [6, 8], [10, 12]])


def test_what_a_function_that_is_mapped_gives_has_the_shape_that_was_said():
    count = tf.function(tf.range, input_signature=[tf.TensorSpec([], tf.int32)])
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Mismatch in function retval shape"):
            session.run(private.map_defun(count, [tf.constant([1, 2])], [tf.int32], [None]))
        none = tf.placeholder_with_default(np.zeros(0, np.int32), [None])
        assert session.run(private.map_defun(count, [none], [tf.int32], [(3,)]))[0].shape == (0, 3)


@pytest.mark.parametrize(
    ("values", "kinds", "told"),
    [
        ([[1.0]], [tf.int32], "inputs are of types .int32., MapDefun's .float32."),
        ([[1], [2]], [tf.int32], "inputs are of types .int32., MapDefun's .int32, int32."),
        ([[1]], [tf.float32], "outputs are of types .int32., MapDefun's .float32."),
    ],
)
def test_a_function_that_is_mapped_has_the_types_of_its_node(values, kinds, told):
    double = tf.function(lambda x: 2 * x, input_signature=[tf.TensorSpec([], tf.int32)])
    mapped = private.map_defun(double, [tf.constant(value) for value in values], kinds, [()])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        session.run(mapped)


@pytest.mark.parametrize("given", [{}, {"input_types": tf.int64}, {"input_types": tf.int64, "dataset": Dataset.range(2)}])
def test_a_function_of_unknown_elements_is_refused(given):
    with pytest.raises(ValueError, match="must be specified"):
        StructuredFunctionWrapper(lambda x: x, "Own()", **given)


def test_a_data_set_of_ones_own_has_a_node_with_a_traced_function():
    class Doubled(UnaryUnchangedStructureDataset):
        def __init__(self, source):
            self._input_dataset = source
            call = StructuredFunctionWrapper(lambda x: 2 * x, "Doubled()", dataset=source)
            assert (call.output_types, call.output_structure) == (tf.int64, tf.TensorSpec([], tf.int64))
            call.function.add_to_graph(tf.get_default_graph())
            with pytest.raises(ValueError, match="was traced in another graph"):
                call.function.add_to_graph(tf.Graph())
            variant = tf.raw_ops.MapDataset(
                input_dataset=source._variant_tensor,
                other_arguments=call.function.captured_inputs,
                f=call.function,
                **self._flat_structure,
            )
            super().__init__(source, variant)

    dataset = Doubled(Dataset.range(4))
    assert numbers(dataset.batch(3)) == [[0, 2, 4], [6]]
    assert dataset._inputs()[0].element_spec == dataset.element_spec
