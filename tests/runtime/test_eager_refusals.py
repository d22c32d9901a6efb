"""What eager execution has no use for says so, in TensorFlow 1.15's words."""

import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: tf.train.string_input_producer(["a"]), RuntimeError, "Input pipelines based on Queues are not supported"),
        (lambda: tf.train.range_input_producer(3), RuntimeError, "Input pipelines based on Queues are not supported"),
        (lambda: tf.train.slice_input_producer([[1]]), RuntimeError, "Input pipelines based on Queues are not supported"),
        (lambda: tf.train.batch([tf.constant(1)], 1), ValueError, "Input pipelines based on Queues are not supported"),
        (
            lambda: tf.train.batch_join([[tf.constant(1)]], 1),
            ValueError,
            "Input pipelines based on Queues are not supported",
        ),
        (
            lambda: tf.train.shuffle_batch([tf.constant(1)], 1, 3, 1),
            ValueError,
            "Please use tf.data to ingest data into your",
        ),
        (lambda: tf.train.QueueRunner(), RuntimeError, "QueueRunners are not supported when eager execution is enabled."),
        (lambda: tf.train.start_queue_runners(), RuntimeError, "Queues are not compatible with eager execution."),
        (lambda: tf.TextLineReader(), RuntimeError, "Readers are not supported when eager execution is enabled."),
        (lambda: tf.train.export_meta_graph(), RuntimeError, "Exporting/importing meta graphs is not supported"),
        (lambda: tf.train.import_meta_graph("absent"), RuntimeError, "No graph exists when eager execution is enabled."),
        (lambda: tf.summary.merge([]), RuntimeError, r"Merging tf.summary.\* ops is not compatible with eager execution."),
        (lambda: tf.summary.merge_all(), RuntimeError, "Use tf.contrib.summary instead."),
        (lambda: tf.constant(1).consumers(), NotImplementedError, "Tensor.consumers is meaningless when eager"),
        (lambda: tf.constant([1]).set_shape([None, 2]), ValueError, r"not compatible with supplied shape \[None, 2\]"),
        (lambda: tf.Variable(1).eval(), RuntimeError, "Trying to eval in EAGER mode"),
        (lambda: tf.Variable(1).to_proto(), RuntimeError, "to_proto not supported in EAGER mode."),
        (
            lambda: tf.data.Dataset.range(3).make_initializable_iterator(),
            RuntimeError,
            "dataset.make_initializable_iterator is not supported when eager execution is enabled.",
        ),
    ],
)
def test_a_graphs_tools_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_queues_of_a_graph_are_made_within_it():
    with tf.Graph().as_default() as graph:
        tf.train.batch([tf.train.string_input_producer(["a"]).dequeue()], 1)
        assert len(graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)) == 2
        tf.train.export_meta_graph()
