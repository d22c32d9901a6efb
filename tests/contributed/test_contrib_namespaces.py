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
