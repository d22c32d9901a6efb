"""What `fit` may be given, as datasets of batches; layers that take their state from data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.stand_ins import keras_data_adapters as adapters
from tfexp.stand_ins.keras_preprocessing_layers import Combiner, CombinerPreprocessingLayer, Normalization
from tfexp.stand_ins.keras_preprocessing_tests import PreprocessingLayerTest
from tfexp.stand_ins.modules import stand_for

X, Y = np.arange(10).reshape(5, 2), np.arange(5.0)


class Sevens(tf.keras.utils.Sequence):  # type: ignore[misc,name-defined]
    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> Any:
        return X + 7 * index, Y


def batches(adapter: Any) -> list[Any]:
    return [tf.nest.map_structure(lambda one: one.numpy().tolist(), batch) for batch in adapter.get_dataset()]


def sizes(adapter: Any) -> list[Any]:
    of_batches = [adapter.get_size(), adapter.batch_size(), adapter.has_partial_batch(), adapter.partial_batch_size()]
    return [*of_batches, adapter.should_recreate_iterator(None), adapter.should_recreate_iterator(2)]


def test_samples_are_cut_into_batches() -> None:
    with eager_mode():
        cut = adapters.TensorLikeDataAdapter([X, Y], [Y, Y], [None, Y], batch_size=3)
        assert sizes(cut) == [2, 3, True, 2, False, False]
        last = (([[6, 7], [8, 9]], [3.0, 4.0]), ([3.0, 4.0], [3.0, 4.0]), ([1.0, 1.0], [3.0, 4.0]))
        assert batches(cut)[1] == last
        whole = adapters.TensorLikeDataAdapter(X, batch_size=7)
        assert tf.data.get_output_shapes(whole.get_dataset())[0].as_list() == [5, 2]
        np.random.seed(3)
        shuffled = batches(adapters.TensorLikeDataAdapter(Y, steps=2, shuffle=True, epochs=2))
        np.random.seed(3)
        orders = [np.random.permutation(5) for _ in range(2)]
        assert [value for (batch,) in shuffled for value in batch] == [*orders[0], *orders[1]]
        of_lists = adapters.ListsOfScalarsDataAdapter([1, 2, 3], [1.0, 2.0, 3.0], batch_size=2)
        assert sizes(of_lists) == [2, 2, True, 1, True, True] and batches(of_lists)[1] == ([3], [3.0])
        sparse = tf.SparseTensor([[0, 0], [3, 1]], [1.0, 2.0], [4, 3])
        assert sizes(adapters.CompositeTensorDataAdapter(sparse, Y[:4], steps=2)) == [2, 2, False, None, True, True]
        with pytest.raises(ValueError, match="`batch_size` or `steps` is required"):
            adapters.TensorLikeDataAdapter(X)


@pytest.mark.parametrize("workers", [0, 1])
def test_generators_and_sequences_give_batches(workers: int) -> None:
    with eager_mode():
        generated = adapters.GeneratorDataAdapter(iter_of_two(), workers=workers)
        assert sizes(generated) == [None, 5, False, None, True, False] and len(batches(generated)) == 2
        listed = adapters.KerasSequenceAdapter(Sevens(), workers=0)
        assert sizes(listed) == [3, 5, False, None, True, True] and batches(listed)[2][0] == (X + 14).tolist()
        with pytest.raises(ValueError, match="`y` argument is not supported when using python generator"):
            adapters.GeneratorDataAdapter(iter_of_two(), Y)


def iter_of_two() -> Any:
    yield X, Y
    yield X, Y


def test_each_kind_of_data_has_one_adapter() -> None:
    found = stand_for("tensorflow.python.keras.engine.data_adapter")
    given: dict[str, Any] = {
        "ListsOfScalarsDataAdapter": [[1, 2]],
        "TensorLikeDataAdapter": {"a": X},
        "DatasetAdapter": tf.data.Dataset.range(3),
        "GeneratorDataAdapter": iter_of_two(),
        "KerasSequenceAdapter": Sevens(),
        "CompositeTensorDataAdapter": [tf.SparseTensor([[0, 0]], [1.0], [4, 3]), X],
    }
    assert {name: found.select_data_adapter(x, None).__name__ for name, x in given.items()} == dict(zip(given, given))
    with pytest.raises(ValueError, match="containing values of types"):
        found.select_data_adapter([X, 1], None)
    with pytest.raises(ValueError, match="`sample_weight` argument is not supported when using dataset"):
        found.DatasetAdapter(given["DatasetAdapter"], None, Y)


# --- layers -------------------------------------------------------------------------------------------------------------

ROWS = np.array([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0], [6.0, 20.0]], np.float32)


class TestMoments(PreprocessingLayerTest):
    def test_however_data_are_cut(self) -> None:
        combiner = Normalization._NormalizingCombiner(axis=-1)
        expected = {"count": np.array(4), "mean": ROWS.mean(0), "variance": ROWS.var(0)}
        self.validate_accumulator_computation(combiner, ROWS, combiner.restore(expected))
        self.validate_accumulator_extract(combiner, ROWS, expected)
        self.validate_accumulator_extract_and_restore(combiner, ROWS, expected)
        self.validate_accumulator_serialize_and_deserialize(combiner, ROWS, expected)
        self.validate_accumulator_uniqueness(combiner, ROWS)
        cube = np.arange(30.0).reshape(2, 3, 5)
        np.testing.assert_allclose(Normalization._NormalizingCombiner((0, 2)).compute(cube).mean, cube.mean(1))


@pytest.mark.parametrize("eagerly", [False, True])
def test_a_layer_takes_its_state_from_data(eagerly: bool) -> None:
    with eager_mode() if eagerly else tf.Graph().as_default():
        layer = Normalization()
        layer.adapt(tf.data.Dataset.from_tensor_slices(ROWS[:3]).batch(2))
        layer.adapt(ROWS[3:], reset_state=False)
        outputs = tf.keras.backend.get_value(layer(tf.constant(ROWS)))
        np.testing.assert_allclose(outputs, (ROWS - ROWS.mean(0)) / ROWS.var(0), rtol=1e-5)
        layer.adapt(ROWS[:1])
        assert [tf.keras.backend.get_value(one).tolist() for one in layer.weights] == [[1.0, 10.0], [0.0, 0.0], 1]
        layer.set_weights([ROWS[0], ROWS[1]])
        with pytest.raises(RuntimeError, match="without also setting 'count'"):
            layer.adapt(ROWS, reset_state=False)
        with pytest.raises(ValueError, match="infinite number of elements"):
            layer.adapt(tf.data.Dataset.from_tensors(ROWS).repeat())
        with pytest.raises(ValueError, match="requires a Dataset or a Numpy array"):
            layer.adapt([1.0])


def test_a_layer_has_to_be_built_before_its_state_is_set() -> None:
    with pytest.raises(RuntimeError, match="must be called after build"):
        CombinerPreprocessingLayer(Combiner())._set_state_variables({})
    with pytest.raises(ValueError, match="'axis' may not be 0"):
        Normalization(axis=0)
    assert repr(Combiner()) == "<Combiner>"
