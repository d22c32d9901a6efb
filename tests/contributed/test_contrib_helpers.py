"""tf.contrib.seq2seq: helpers of functions, and scheduled sampling."""

import numpy as np
import pytest

import tfexp as tf

seq2seq = tf.contrib.seq2seq


class Doubling(tf.nn.rnn_cell.RNNCell):
    """Gives its inputs, doubled."""

    state_size = output_size = 2

    def call(self, inputs, state):
        return inputs * 2.0, state


def decoded(helper, steps=None):
    decoder = seq2seq.BasicDecoder(Doubling(), helper, tf.zeros([1, 2]))
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
    with tf.Session() as session:
        return session.run([outputs.rnn_output, outputs.sample_id, lengths])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_samples_are_the_next_inputs_until_they_end():
    helper = seq2seq.InferenceHelper(
        sample_fn=lambda outputs: outputs + 1.0,
        sample_shape=[2],
        sample_dtype=tf.float32,
        start_inputs=tf.constant([[1.0, 0.0]]),
        end_fn=lambda samples: samples[:, 0] > 6.0,
    )
    outputs, samples, lengths = decoded(helper)
    assert outputs.tolist() == [[[2, 0], [6, 2]]] and samples.tolist() == [[[3, 1], [7, 3]]] and lengths == [2]


def test_a_helper_of_functions():
    helper = seq2seq.CustomHelper(
        initialize_fn=lambda: (tf.constant([False]), tf.ones([1, 2])),
        sample_fn=lambda time, outputs, state: tf.fill([1], time),
        next_inputs_fn=lambda time, outputs, state, sample_ids: (tf.fill([1], time >= 1), outputs, state),
    )
    with pytest.raises(ValueError, match="before initialize"):
        helper.batch_size  # noqa: B018 (the property raises)
    outputs, samples, lengths = decoded(helper)
    assert outputs[0, :, 0].tolist() == [2, 4] and samples.tolist() == [[0, 1]] and lengths == [2]


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_scheduled_sampling_feeds_what_was_drawn(probability):
    table = np.float32([[100, 0], [0, 100]])
    inputs = np.float32([[[0, 90], [90, 0], [90, 0]]])
    outputs, samples, _ = decoded(seq2seq.ScheduledEmbeddingTrainingHelper(inputs, [3], table, probability))
    if probability:
        assert samples.tolist() == [[1, 1, 1]] and outputs[0, 1:].tolist() == [[0, 200]] * 2
    else:
        assert samples.tolist() == [[-1, -1, -1]] and outputs[0].tolist() == (inputs[0] * 2).tolist()
