"""Pruning: masks over weights, and how many zeros they have at a step."""

import numpy as np
import pytest

import tfexp as tf

pruning = tf.contrib.model_pruning


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def settings(**values):
    hparams = pruning.get_pruning_hparams()
    hparams.override_from_dict(values)
    return hparams


def weights(shape=(5, 7), name="w", seed=2):
    values = np.random.default_rng(seed).permutation(np.prod(shape)).reshape(shape) + 1.0
    return tf.get_variable(name, initializer=tf.constant(values * np.resize([1.0, -1.0], shape), tf.float32))


def test_layers_multiply_by_masked_weights(graph):
    images = tf.ones([2, 5, 5, 3])
    y = pruning.masked_conv2d(images, 7, 3, scope="c")
    pruning.masked_fully_connected(tf.layers.flatten(y), 4, scope="f")
    assert [t.op.name for t in pruning.get_masked_weights()] == ["c/weights/masked_weight", "f/weights/masked_weight"]
    assert graph.get_operation_by_name("f/MatMul").inputs[1].op.name == "f/weights/masked_weight"
    assert [v.op.name for v in tf.trainable_variables()] == ["c/weights", "c/biases", "f/weights", "f/biases"]
    for found, name in ((pruning.get_masks(), "mask"), (pruning.get_thresholds(), "threshold")):
        assert [v.op.name for v in found] == [f"c/{name}", f"f/{name}"]
    assert {v.op.name for v in tf.contrib.framework.get_model_variables()} >= {"c/mask", "f/threshold"}


def test_cells_mask_their_kernels_once():
    cell = pruning.MaskedBasicLSTMCell(4)
    tf.nn.static_rnn(cell, [tf.ones([2, 3])] * 2, dtype=tf.float32)
    with tf.variable_scope("other"):
        cell = pruning.MaskedLSTMCell(4, use_peepholes=True, num_proj=3)
        tf.nn.static_rnn(cell, [tf.ones([2, 3])], dtype=tf.float32)
    assert [v.shape.as_list() for v in pruning.get_masks()] == [[7, 16], [6, 16]]


def test_the_smallest_weights_become_zero():
    w = weights()
    masked = pruning.apply_mask(w, "m")
    step = tf.train.get_or_create_global_step()
    p = pruning.Pruning(settings(target_sparsity=0.6, sparsity_function_end_step=10))
    update = p.conditional_mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for now, wanted in ((1, 0), (5, 0), (10, 21), (15, 21), (30, 21)):
            session.run(step.assign(now))
            session.run(update)
            values = session.run(masked)
            assert np.sum(values == 0) == wanted  # at 10 first: it is set each 10 steps
        assert np.abs(values[values != 0]).min() == session.run(pruning.get_thresholds()[0]) == 22
        assert session.run(pruning.get_weight_sparsity()) == pytest.approx([0.6])


def test_sparsity_follows_a_polynomial():
    step = tf.placeholder(tf.int64, [])
    p = pruning.Pruning(settings(initial_sparsity=0.1, sparsity_function_begin_step=10), global_step=step)
    with tf.Session() as session:
        found = [session.run(p._sparsity, {step: now}) for now in (5, 55, 100, 300)]
    np.testing.assert_allclose(found, [0.1, 0.5 - 0.4 * 0.5**3, 0.5, 0.5], rtol=1e-6)


def test_weights_may_have_a_sparsity_of_their_own():
    masked = [pruning.apply_mask(weights(name=name), name) for name in ("first", "second")]
    tf.train.get_or_create_global_step()
    p = pruning.Pruning(settings(weight_sparsity_map=["first:0.2"]), sparsity=tf.constant(0.5))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(p.mask_update_op())
        assert [np.sum(values == 0) for values in session.run(masked)] == [7, 17]


@pytest.mark.parametrize("function", ["AVG", "MAX"])
def test_matrices_lose_whole_blocks(function):
    values = np.ones([4, 5], np.float32)
    values[:2, :3] = 0.1
    values[2:, 3:] = 0.2
    pruning.apply_mask(tf.get_variable("w", initializer=values), "m")
    tf.train.get_or_create_global_step()
    p = pruning.Pruning(settings(block_height=2, block_width=3, block_pooling_function=function), sparsity=tf.constant(0.5))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(p.mask_update_op())
        np.testing.assert_array_equal(session.run(pruning.get_masks()[0]), values == 1)


def test_weights_that_two_settings_name_are_refused():
    pruning.apply_mask(weights())
    tf.train.get_or_create_global_step()
    p = pruning.Pruning(settings(weight_sparsity_map=["w:0.2", "w:0:0.4", ":0.1"]))
    with pytest.raises(ValueError, match="several"):
        p.mask_update_op()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"begin_pruning_step": -1}, "must not be negative"),
        ({"begin_pruning_step": 5, "end_pruning_step": 3}, "begin before it can end"),
        ({"sparsity_function_begin_step": 5, "sparsity_function_end_step": 5}, "Sparsity must begin"),
        ({"threshold_decay": 1.0}, "threshold_decay must be in range"),
        ({"target_sparsity": 1.5}, "target_sparsity must be in range"),
        ({"weight_sparsity_map": ["w:3"]}, "can not exceed 1"),
    ],
)
def test_settings_that_make_no_sense(values, told):
    tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match=told):
        pruning.Pruning(settings(**values))


def test_masks_are_stripped_from_graphs_of_checkpoints(tmp_path):
    x = tf.placeholder(tf.float32, [None, 5], "x")
    tf.matmul(x, pruning.apply_mask(weights(), "m"), name="y")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        pruning.get_masks()[0].load(np.eye(5, 7), session)
        wanted = session.run("y:0", {x: np.eye(5)})
        tf.train.Saver().save(session, str(tmp_path / "model"))
    frozen = pruning.graph_def_from_checkpoint(str(tmp_path), ["y"])
    before = frozen.SerializeToString()
    stripped = pruning.strip_pruning_vars_fn(frozen, ["y"])
    assert frozen.SerializeToString() == before
    assert {node.op for node in stripped.node} == {"Placeholder", "Const", "MatMul"}
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.import_graph_def(stripped, return_elements=["y:0"])[0]
        np.testing.assert_array_equal(session.run(y, {"import/x:0": np.eye(5)}), wanted)


def test_the_loop_sets_masks(tmp_path, quiet):
    w = weights()
    loss = tf.reduce_sum(tf.square(pruning.apply_mask(w, "m")))
    train_op = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.0))
    p = pruning.Pruning(settings(pruning_frequency=1, sparsity_function_end_step=2))
    pruning.train(train_op, str(tmp_path), p.conditional_mask_update_op(), number_of_steps=3)
    mask = tf.train.load_variable(tf.train.latest_checkpoint(str(tmp_path)), "m/mask")
    assert mask.sum() == 18
