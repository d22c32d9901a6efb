"""Objects and their parts, and small utilities, as tests and libraries take them from private modules."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


util = module("training.tracking.util")
structures, layer_utils = module("training.tracking.data_structures"), module("training.tracking.layer_utils")


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


class Thing(module("training.tracking.tracking").AutoTrackable):
    def __init__(self):
        self.part = tf.Variable(2.0, name="part")


def test_what_is_reached_from_an_object(tmp_path):
    thing = Thing()
    assert util.list_objects(thing) == [thing, thing.part]
    assert util.gather_initializers(thing) == [thing.part.initializer]
    added = util.add_variable(thing, "added", [2], initializer=tf.zeros_initializer())
    assert added.name == "added:0" and thing.added is added
    with pytest.raises(ValueError, match="already"):
        util.add_variable(thing, "added", [2])
    with tf.Session() as session:
        session.run(util.gather_initializers(thing))
        path = tf.train.Checkpoint(thing=thing).save(str(tmp_path / "objects"), session)
        by_name = tf.train.Saver([thing.part]).save(session, str(tmp_path / "names"))
    assert {child.local_name for child in util.object_metadata(path).nodes[0].children} == {"save_counter", "thing"}
    with pytest.raises(ValueError, match="not object-based"):
        util.object_metadata(by_name)


def test_structures_of_layers_and_variables():
    dense = tf.keras.layers.Dense(1)
    dense.build([None, 3])
    parts = structures.List([dense])
    parts.append(tf.Variable(1.0, trainable=False))
    assert parts.layers == [dense] and parts.trainable_weights == dense.trainable_weights
    assert parts.variables == [*dense.weights, parts[1]] and isinstance(parts + structures.List(), structures.List)
    named = structures.Mapping(a=parts)
    named["b"] = tf.Variable(2.0)
    assert named.trainable_variables == [*dense.trainable_weights, named["b"]]
    with pytest.raises(TypeError, match="string keys"):
        named[1] = dense
    with pytest.raises(ValueError, match="append-only"):
        named["b"] = tf.Variable(3.0)
    assert layer_utils.is_layer(dense) and layer_utils.has_weights(parts) and not layer_utils.is_layer(parts)
    assert layer_utils.filter_empty_layer_containers([dense, parts, structures.List(), dense]) == [dense, parts]
    assert layer_utils.gather_trainable_weights(False, [dense], []) == []
    assert layer_utils.gather_non_trainable_weights(False, [dense], []) == dense.weights


def test_small_utilities():
    locks, stacks = module("util.lock_util"), module("util.tf_stack")
    lock = locks.GroupLock(2)
    with lock.group(0), lock.group(0):
        pass
    with pytest.raises(ValueError, match="group_id"):
        lock.acquire(2)
    stack = stacks.extract_stack()
    assert stacks.convert_stack(stack)[-1][2:] == ("test_small_utilities", "stack = stacks.extract_stack()")
    assert len(stacks.convert_stack(stack, True)[-1]) == 5 and len(stacks.extract_stack(limit=1)) == 1
    execute = module("eager.execute")
    assert execute.make_shape([1, None], "s") == [1, None] and execute.make_type("int32", "t") == 3
    for make, wrong in ((execute.make_int, "3"), (execute.make_bool, 1), (execute.make_str, 3), (execute.make_type, "zz")):
        with pytest.raises(TypeError, match="for argument 'a'"):
            make(wrong, "a")
    status = module("autograph.core.ag_ctx")
    with status.ControlStatusCtx(status.Status.DISABLED):
        assert status.control_status_ctx().status is status.Status.DISABLED
    assert status.control_status_ctx().status is status.Status.UNSPECIFIED
    keyword_args_only = module("util.keyword_args").keyword_args_only
    assert keyword_args_only(lambda a: a)(a=1) == 1
    with pytest.raises(ValueError, match="keyword args"):
        keyword_args_only(lambda a: a)(1)
