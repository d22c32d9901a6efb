"""Objects and their parts, and small utilities, as tests and libraries take them from private modules."""

import sys
import types

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
    assert module("training.tracking.graph_view").ObjectGraphView(thing).list_objects() == [thing, thing.part]
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
    keyword_args_only = module("util.keyword_args").keyword_args_only
    assert keyword_args_only(lambda a: a)(a=1) == 1
    with pytest.raises(ValueError, match="keyword args"):
        keyword_args_only(lambda a: a)(1)


def test_attributes_as_generated_functions_take_them():
    execute = module("eager.execute")
    assert execute.make_float(3, "f") == 3.0 and execute.make_str("x", "s") == b"x"
    assert execute.make_shape([1, None], "s") == [1, None] and execute.make_type("int32", "t") == 3
    for kind, wrong in (("int", "3"), ("float", "3"), ("bool", 1), ("str", 3), ("type", "zz"), ("tensor", 3)):
        with pytest.raises(TypeError, match="for argument 'a'"):
            getattr(execute, f"make_{kind}")(wrong, "a")
    assert module("eager.graph_only_ops").graph_placeholder("int32", [2]).shape.as_list() == [2]


def test_blocks_say_whether_calls_are_translated():
    status = module("autograph.core.ag_ctx")
    with status.ControlStatusCtx(status.Status.DISABLED):
        assert status.control_status_ctx().status is status.Status.DISABLED
    assert status.control_status_ctx().status is status.Status.UNSPECIFIED


def test_decorators_look_at_what_they_are_given():
    utils = module("util.decorator_utils")

    class Owner:
        label = utils.classproperty(lambda cls: cls.__name__)

    assert Owner.label == Owner().label == "Owner"
    assert utils.get_qualified_name(Thing.__init__) == "Thing.__init__"
    utils.validate_callable(len, "decorate")
    with pytest.raises(ValueError, match="make sure @property appears before @decorate"):
        utils.validate_callable(3, "decorate")


def test_names_that_no_docstring_documents(monkeypatch):
    names = module("util.all_util")
    documented = types.ModuleType("documented", "One.\n\n@@kept\n @@indented\n@@_private\n")
    vars(documented).update(kept=1, indented=2, allowed=3, _private=4)
    monkeypatch.setitem(sys.modules, "documented", documented)
    assert names.make_all("documented") == ["kept"]
    names.remove_undocumented("documented", ["allowed"])
    assert {name for name in vars(documented) if not name.startswith("__")} == {"kept", "allowed", "_private"}
    names.reveal_undocumented("documented.indented")
    assert documented.indented == 2
    with pytest.raises(LookupError, match=r"documented\.kept is not a hidden symbol"):
        names.reveal_undocumented("documented.kept")
