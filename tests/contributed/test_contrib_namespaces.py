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
    tfe = tf.contrib.eager
    assert (tfe.py_func, tfe.custom_gradient, tfe.TensorSpec) == (tf.py_function, tf.custom_gradient, tf.TensorSpec)
    assert tfe.Checkpoint is tf.train.Checkpoint and tfe.run is tf.app.run
    assert tf.contrib.saved_model.save_keras_model is tf.keras.experimental.export_saved_model
    assert tf.contrib.saved_model.load_keras_model is tf.keras.experimental.load_from_saved_model
    assert tf.contrib.distribute.has_distribution_strategy is tf.distribute.has_strategy
    assert tf.contrib.nn.conv1d_transpose is tf.nn.conv1d_transpose
    assert issubclass(tf.nn.rnn_cell.GRUCell, tf.contrib.rnn.LayerRNNCell)
    assert callable(tf.contrib.proto.decode_proto) and callable(tf.contrib.proto.encode_proto)


def test_the_ops_that_a_graph_uses_are_listed():
    with tf.Graph().as_default() as graph:
        tf.constant(1.0) * 2.0
    used = tf.contrib.util.ops_used_by_graph_def(graph.as_graph_def())
    assert used == ["Const", "Mul"]
    assert [op.name for op in tf.contrib.util.stripped_op_list_for_graph(graph.as_graph_def()).op] == used
