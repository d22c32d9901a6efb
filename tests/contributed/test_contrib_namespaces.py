"""Parts of tf.contrib that became part of the core."""

import tfexp as tf


def test_namespaces_that_became_part_of_the_core_are_there():
    assert tf.contrib.keras.layers.Dense is tf.keras.layers.Dense
    assert tf.contrib.signal.stft is tf.signal.stft
    assert tf.contrib.linalg.LinearOperatorDiag is tf.linalg.LinearOperatorDiag
    assert tf.contrib.hooks.ProfilerHook is tf.train.ProfilerHook
    assert tf.contrib.checkpoint.CheckpointManager is tf.train.CheckpointManager
    assert tf.contrib.compiler.jit.experimental_jit_scope is tf.xla.experimental.jit_scope
    assert tf.contrib.cluster_resolver.SimpleClusterResolver is tf.distribute.cluster_resolver.SimpleClusterResolver
    assert tf.contrib.optimizer_v2.AdamOptimizer is tf.train.AdamOptimizer
    assert tf.contrib.autograph.to_graph is tf.autograph.to_graph
    assert tf.contrib.autograph.do_not_convert is tf.autograph.experimental.do_not_convert
    tfe = tf.contrib.eager
    assert (tfe.py_func, tfe.custom_gradient, tfe.TensorSpec) == (tf.py_function, tf.custom_gradient, tf.TensorSpec)
    assert tfe.Checkpoint is tf.train.Checkpoint and tfe.run is tf.app.run
    assert tf.contrib.saved_model.save_keras_model is tf.keras.experimental.export_saved_model
    assert tf.contrib.saved_model.load_keras_model is tf.keras.experimental.load_from_saved_model
    assert tf.contrib.distribute.has_distribution_strategy is tf.distribute.has_strategy
    assert tf.contrib.distribute.TPUStrategy is tf.distribute.experimental.TPUStrategy
    assert tf.contrib.nn.conv1d_transpose is tf.nn.conv1d_transpose
    assert issubclass(tf.nn.rnn_cell.GRUCell, tf.contrib.rnn.LayerRNNCell)
    assert callable(tf.contrib.proto.decode_proto) and callable(tf.contrib.proto.encode_proto)


def test_slim_shows_the_modules_that_it_takes_its_functions_from():
    slim, layers = tf.contrib.slim, tf.contrib.layers
    assert slim.initializers.xavier_initializer is layers.xavier_initializer
    assert slim.regularizers.l2_regularizer is layers.l2_regularizer
    assert slim.layers.conv2d is layers.conv2d
    assert slim.conv2d_in_plane is layers.conv2d_in_plane and slim.embedding_column is layers.embedding_column
    assert slim.summaries.add_scalar_summary is not None and not hasattr(slim, "no_such_layer")


def test_slims_summaries():
    with tf.Graph().as_default(), tf.Session() as session, tf.name_scope("s"):
        add = tf.contrib.slim.summaries
        number, numbers = tf.constant(1.0, name="number"), tf.constant([0.0, 0.0, 0.0, 2.0], name="numbers")
        add.add_scalar_summary(number, "loss", "mine", print_summary=True)
        add.add_scalar_summaries([number], "q")
        add.add_histogram_summaries([numbers])
        add.add_zero_fraction_summaries([numbers], "q")
        add.add_image_summaries([tf.zeros([1, 2, 3, 1], name="images")])
        kinds = [summary.op.type for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        assert kinds == ["Print", "ScalarSummary", "HistogramSummary", "ScalarSummary", "ImageSummary"]
        values = tf.Summary.FromString(session.run(tf.summary.merge_all())).value
        assert [(value.tag, value.simple_value) for value in values] == [
            ("s/mine/loss", 1.0),
            ("s/q/s/number", 1.0),
            ("s/s/numbers", 0.0),
            ("s/q/s/numbers/Fraction_of_Zero_Values", 0.75),
            ("s/s/images/image/0", 0.0),
        ]


def test_the_ops_that_a_graph_uses_are_listed():
    with tf.Graph().as_default() as graph:
        tf.constant(1.0) * 2.0
    used = tf.contrib.util.ops_used_by_graph_def(graph.as_graph_def())
    assert used == ["Const", "Mul"]
    assert [op.name for op in tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def()).op] == used
