"""What data sets say of their elements, as TypeSpecs."""

import pytest

import tfexp as tf
from tests.data.running import elements
from tfexp.data import experimental

Data = tf.data.Dataset


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_structures_there_and_back():
    sparse = tf.SparseTensor([[0]], [1.0], [3])
    data = Data.from_tensors({"a": (1, sparse), "b": ["x", "y"]})
    spec = experimental.get_structure(data)
    assert spec == {
        "a": (tf.TensorSpec([], tf.int32), tf.SparseTensorSpec([3], tf.float32)),
        "b": tf.TensorSpec([2], tf.string),
    }
    again = experimental.from_variant(experimental.to_variant(data), spec)
    assert (again.output_types, again.output_classes) == (data.output_types, data.output_classes)
    ((found),) = elements(again)
    assert found["a"][1].values.tolist() == [1.0]


def test_data_sets_and_optionals_within():
    windows = experimental.get_structure(Data.range(4).window(2))
    assert windows == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)) == experimental.DatasetStructure(windows.element_spec)
    optional = experimental.get_structure(Data.range(2).map(experimental.Optional.from_value))
    assert (
        optional
        == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
        == experimental.OptionalStructure(tf.TensorSpec([], tf.int64))
    )
    nothing = experimental.Optional.none_from_structure(tf.TensorSpec([], tf.int64))
    with tf.Session() as session:
        assert not session.run(nothing.has_value())
    with pytest.raises(TypeError, match="says nothing of an element"):
        experimental.from_variant(experimental.to_variant(Data.range(2)), 3)


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (experimental.TensorStructure(tf.int32, [2]), "TensorSpec(shape=(2,), dtype=tf.int32, name=None)"),
        (experimental.SparseTensorStructure(tf.int32, [2]), "SparseTensorSpec(TensorShape([Dimension(2)]), tf.int32)"),
        (
            experimental.TensorArrayStructure(tf.int32, [2], True, True),
            "TensorArraySpec(TensorShape([Dimension(2)]), tf.int32, True, True)",
        ),
        (
            experimental.RaggedTensorStructure(tf.int32, [2, None], 1),
            "RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)",
        ),
        (tf.OptionalSpec(tf.TensorSpec([], tf.int32)), "OptionalSpec(TensorSpec(shape=(), dtype=tf.int32, name=None),)"),
        (
            tf.data.DatasetSpec(tf.TensorSpec([], tf.int32)),
            "DatasetSpec(TensorSpec(shape=(), dtype=tf.int32, name=None), TensorShape([]))",
        ),
    ],
)
def test_they_print_as_tensorflows_do(spec, text):
    assert repr(spec) == text
    assert isinstance(spec, tf.TypeSpec)
    assert isinstance(spec, experimental.Structure)
    assert spec.is_compatible_with(spec)


def test_what_agrees():
    spec = tf.TensorSpec([None, 3], tf.float32)
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert not spec.is_compatible_with(tf.zeros([2, 4]))
    assert not spec.is_compatible_with(tf.zeros([2, 3], tf.int32))
    assert tf.TensorSpec.from_tensor(tf.zeros([2], name="z")) == tf.TensorSpec([2], tf.float32, "z")
    assert tf.SparseTensorSpec([None]).is_compatible_with(tf.SparseTensorSpec([3]))
    assert len({spec, tf.TensorSpec([None, 3], tf.float32)}) == 1
    with pytest.raises(ValueError, match="ragged_rank"):
        tf.RaggedTensorSpec()


def test_what_data_sets_of_data_sets_say():
    numbers = experimental.DatasetStructure(tf.TensorSpec([], tf.int64))
    windows = Data.range(3).window(2)
    assert windows.output_types == windows.output_shapes == windows.output_classes == windows.element_spec == numbers
    assert tf.data.get_output_types(Data.zip((Data.range(3), windows))) == (tf.int64, numbers)
    several = windows.batch(2)
    assert several.element_spec == several.output_shapes == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64), [None])
    maybe = Data.range(3).map(experimental.Optional.from_value)
    assert maybe.output_types == maybe.output_classes == tf.OptionalSpec(tf.TensorSpec([], tf.int64))
    assert repr(windows) == f"<Dataset shapes: {numbers}, types: {numbers}>"
    with pytest.raises(TypeError, match="different types DatasetSpec"):
        windows.concatenate(Data.range(3))
