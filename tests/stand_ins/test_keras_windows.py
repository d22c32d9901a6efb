"""`conv_utils`, `tf_utils`, `recurrent` and `recurrent_v2` of Keras's private modules, with values of TF 1.15."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras.utils.data import Sequence
from tfexp.stand_ins import keras_recurrent, keras_sequences, keras_tensors, keras_windows
from tfexp.stand_ins.modules import stand_for


def test_windows_of_convolutions():
    mask = keras_windows.conv_kernel_mask((4,), (3,), (1,), "valid")
    assert mask.astype(int).tolist() == [[1, 0], [1, 1], [1, 1], [0, 1]]
    mask = keras_windows.conv_kernel_mask((3, 2), (2, 2), (2, 1), "same")
    assert mask.shape == (3, 2, 2, 2) and mask[0].astype(int).tolist() == [[[1, 1], [0, 0]], [[0, 1], [0, 0]]]
    assert keras_windows.conv_kernel_mask((), (), (), "same").shape == ()
    assert keras_windows.conv_connected_inputs((4, 3), (2, 3), (1, 0), (1, 1), "same") == [range(2), range(2)]
    assert keras_windows.conv_output_shape((4, 5), (2, 3), (2, 1), "valid") == (2, 3)


def test_pairs_of_connected_elements():
    found = keras_windows.conv_kernel_idxs((3,), (2,), (1,), "valid", 1, 2, "channels_last")
    assert list(found) == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 1), (2, 2), (3, 2)]
    found = keras_windows.conv_kernel_idxs((3, 2), (2, 2), (1, 1), "same", 2, 1, "channels_first")
    assert list(found)[:4] == [(0, 0), (0, 6), (1, 0), (1, 6)]
    with pytest.raises(ValueError, match=r"must all match\. Received: 1, 2, 1"):
        keras_windows.conv_kernel_mask((2, 2), (2,), (1,), "same")
    with pytest.raises(NotImplementedError, match="Padding type full"):
        keras_windows.conv_kernel_mask((2,), (2,), (1,), "full")
    with pytest.raises(ValueError, match="Data format nope"):
        list(keras_windows.conv_kernel_idxs((2,), (2,), (1,), "same", 1, 1, "nope"))


@pytest.mark.parametrize(("padding", "lengths"), [("same", [8, 8]), ("valid", [9, 10]), ("full", [5, 6])])
def test_lengths_of_transposed_convolutions(padding, lengths):
    length = keras_windows.deconv_output_length
    assert [length(4, 3, padding, output_padding=extra, stride=2) for extra in (None, 1)] == lengths
    assert length(None, 3, padding, stride=2) is None


def test_shapes_in_structures():
    assert keras_tensors.convert_shapes({"x": tf.TensorShape([1, None])}) == {"x": (1, None)}
    assert keras_tensors.convert_shapes([(1, 2), (3,)], to_tuples=False) == [tf.TensorShape([1, 2]), tf.TensorShape([3])]
    first = keras_tensors.map_structure_with_atomic(lambda x: isinstance(x, tuple), lambda x: x[0], [(1, 2), {"a": (3, 4)}])
    assert first == [1, {"a": 3}]


def test_sequences_are_told_from_lists():
    class Two(Sequence):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return index

    asked = [Two(), (one for one in ()), [1], np.ones(2)]
    assert [keras_sequences.is_generator_or_sequence(one) for one in asked] == [True, True, False, False]
    endless = keras_sequences.iter_sequence_infinite(Two())
    assert [next(endless) for _ in range(5)] == [0, 1, 0, 1, 0]


def test_masks_of_sequences():
    with tf.Graph().as_default(), tf.Session() as session:
        padded, broken = tf.constant([[True, True, False], [True, False, False]]), tf.constant([[True, False, True]])
        lengths = keras_recurrent.calculate_sequence_by_mask(padded, time_major=False)
        assert session.run(lengths).tolist() == [2, 1]
        right = [
            keras_recurrent.is_sequence_right_padded(padded, time_major=False),
            keras_recurrent.is_sequence_right_padded(tf.transpose(padded), time_major=True),
            keras_recurrent.is_sequence_right_padded(broken, time_major=False),
        ]
        assert session.run(right) == [True, True, False]


def test_gates_that_see_the_memory():
    with tf.Graph().as_default(), tf.Session() as session:
        weights = {"kernel_initializer": "ones", "recurrent_initializer": "zeros", "unit_forget_bias": False}
        cell = keras_recurrent.PeepholeLSTMCell(2, recurrent_activation="sigmoid", **weights)
        cell.build((None, 1))
        x, memory = 0.5, 0.25
        output, states = cell.call(tf.constant([[x]]), [tf.zeros((1, 2)), tf.fill((1, 2), memory)])
        session.run(tf.global_variables_initializer())
        logistic = 1 / (1 + np.exp(-(x + memory)))
        following = logistic * memory + logistic * np.tanh(x)
        expected = np.tanh(following) / (1 + np.exp(-(x + following)))
        np.testing.assert_allclose(session.run([states[1], output]), [[[following] * 2], [[expected] * 2]], rtol=1e-5)
        assert len(cell.weights) == 6


def test_recurrent_v2_has_layers_with_the_defaults_of_the_second_version():
    module = stand_for("tensorflow.python.keras.layers.recurrent_v2")
    assert module.GRU(3).reset_after and not tf.keras.layers.GRU(3).reset_after
