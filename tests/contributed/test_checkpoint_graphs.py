"""tf.contrib.checkpoint: what objects have, and what a checkpoint has of them."""

import pytest

import tfexp as tf

checkpoints = tf.contrib.checkpoint


def test_the_objects_of_a_checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        variable, optimizer = tf.Variable([1.0, 2.0], name="v"), tf.train.MomentumOptimizer(0.1, 0.9)
        optimizer.minimize(tf.reduce_sum(variable))
        saved = tf.train.Checkpoint(a=variable, o=optimizer)
        assert checkpoints.list_objects(saved)[1:] == [variable, optimizer, optimizer.get_slot(variable, "momentum")]
        session.run(tf.global_variables_initializer())
        path = saved.save(str(tmp_path / "by_objects"), session=session)
        by_names = tf.train.Saver().save(session, str(tmp_path / "by_names"))
    metadata = checkpoints.object_metadata(path)
    assert isinstance(metadata, checkpoints.CheckpointableObjectGraph)
    assert [child.local_name for child in metadata.nodes[0].children] == ["a", "o", "save_counter"]
    lines = checkpoints.dot_graph_from_checkpoint(path).splitlines()
    assert 'N_1 [shape=point label="" width=.25 color=blue tooltip="Variable v shape=[2] float32"]' in lines
    assert 'N_2 -> N_4 [label="momentum" style=dotted]' in lines and "N_1 -> N_4 [style=dotted]" in lines
    assert any("Slot variable v/Momentum shape=[2] float32" in line for line in lines)
    for function in (checkpoints.object_metadata, checkpoints.dot_graph_from_checkpoint):
        with pytest.raises(ValueError, match="is not object-based"):
            function(by_names)


def test_parts_under_unique_names():
    with tf.Graph().as_default():
        parts = [tf.Variable(0.0) for _ in range(3)]
        tracker = checkpoints.UniqueNameTracker()
        for part, name in zip(parts, ["layer", "layer", "other"], strict=True):
            assert tracker.track(part, name) is part
        assert tracker._checkpoint_children() == list(zip(["layer", "layer_1", "other"], parts, strict=True))
        with pytest.raises(ValueError, match="Expected a trackable value, got 1"):
            tracker.track(1, "layer")
