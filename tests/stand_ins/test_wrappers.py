"""What TensorFlow's tests ask of wrappers: modules whose names have later ones, results that must be used, stacks."""

import abc
import cmd
import gc
import pickle
import sys
import types
from unittest import mock

import pytest

import tfexp as tf
from tfexp.stand_ins import later_names
from tfexp.stand_ins.modules import stand_for


def module(name):
    return stand_for(f"tensorflow.python.{name}")


@pytest.fixture
def wrapped(monkeypatch):
    """A wrapper of a module of three names, of which two have later ones."""
    for name in ("bar", "baz"):
        monkeypatch.setitem(later_names.symbol_renames, f"tf.test.{name}", f"tf.{name}2")
    inside = types.ModuleType("inside")
    inside.foo, inside.bar, inside.baz = 1, 2, 3
    return module("util.module_wrapper").TFModuleWrapper(inside, "test")


def test_names_with_later_ones_are_said_once_of_a_module(wrapped):
    with mock.patch.object(tf.get_logger(), "warning") as warning:
        assert (wrapped.foo, wrapped.bar, wrapped.bar, wrapped.baz) == (1, 2, 2, 3)
    words = warning.call_args.args
    assert warning.call_count == 1 and words[2:] == ("tf.test.bar", "tf.bar2") and words[1].startswith(__file__)
    assert module("util.module_wrapper").get_rename_v2("tf.Session") == "tf.compat.v1.Session"
    assert module("util.module_wrapper").get_rename_v2("tf.Module") is None


def test_a_wrapper_is_the_module_that_it_wraps(wrapped):
    inside = wrapped._tfmw_wrapped_module
    wrapped.new = 4
    assert inside.new == 4 and set(wrapped.__all__) == {"foo", "bar", "baz", "new"}
    del wrapped.foo
    assert not hasattr(wrapped, "foo") and not hasattr(inside, "foo") and isinstance(wrapped, types.ModuleType)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = wrapped.nothing


def test_names_that_load_when_asked_for(monkeypatch):
    places = {"cmd": ("", "cmd"), "ABCMeta": ("abc", "ABCMeta")}
    lazy = module("util.module_wrapper").TFModuleWrapper(types.ModuleType("lazy_inside"), "x", places, deprecation=False)
    assert "ABCMeta" not in vars(lazy) and set(dir(lazy)) == set(lazy.__all__) == set(places)
    assert lazy.cmd is cmd and lazy.ABCMeta is abc.ABCMeta and vars(lazy)["ABCMeta"] is abc.ABCMeta
    monkeypatch.setitem(sys.modules, "lazy_inside", lazy)
    assert pickle.loads(pickle.dumps(lazy)) is lazy


def test_what_says_by_itself_that_it_goes():
    deprecation, wrapper = module("util.deprecation"), module("util.module_wrapper")

    @deprecation.deprecated(None, "Do not.")
    def goes():
        """Goes."""

    class Goes:
        __init__ = deprecation.deprecated(None, "Do not.")(lambda self: None)

    assert wrapper.has_deprecation_decorator(goes) and wrapper.has_deprecation_decorator(Goes)
    assert not wrapper.has_deprecation_decorator(test_what_says_by_itself_that_it_goes)


@pytest.mark.parametrize(
    ("use", "said"),
    [(lambda h: None, True), (lambda h: h.mark_used(), False), (lambda h: h + 1, False), (lambda h: h.name, False)],
)
@pytest.mark.parametrize("fatal", [False, True])
def test_results_of_which_nothing_is_made_are_said(use, said, fatal):
    should_use = module("util.tf_should_use")
    decorated = (should_use.must_use_result_or_fatal if fatal else should_use.should_use_result)(lambda x: x)
    with tf.Graph().as_default(), mock.patch.object(should_use.tf_logging, "fatal" if fatal else "error") as log:
        made = decorated(tf.constant(0, name="blah0"))
        assert isinstance(made, tf.Tensor)
        use(made)
        del made
        gc.collect()
    assert log.call_count == said
    if said:
        assert "Object was never used" in log.call_args.args[0] and "blah0:0" in log.call_args.args[0]


def test_a_result_that_must_be_used_is_what_it_stands_for():
    held = module("util.tf_should_use")._add_should_use_warning(tf.constant(3))
    with tf.Session() as session:
        assert session.run([held, held + 1, tf.add(held, 2)]) == [3, 4, 5]


def test_stacks_within_filters_and_mappers():
    stacks = module("util.tf_stack")

    class Elsewhere(stacks.StackTraceMapper):
        def get_effective_source_map(self):
            return {(__file__, frame.lineno): ("elsewhere", 7, "there")}

    with stacks.CurrentModuleFilter() as outer, stacks.CurrentModuleFilter() as inner:
        assert inner.parent is outer and __file__ not in {frame.filename for frame in stacks.extract_stack()}
    frame = next(frame for frame in reversed(stacks.extract_stack()) if frame.filename == __file__)
    for line in (frame.lineno, sys._getframe().f_lineno + 3):
        frame = frame._replace(lineno=line)
        with Elsewhere():
            found = stacks.extract_stack(limit=1)[-1][:3]
    assert found == ("elsewhere", 7, "there")
    assert stacks.extract_stack()[-1].filename == __file__


def test_attributes_that_are_hidden():
    deprecation = module("util.deprecation")

    class Base:
        a = b = 1

    class Without(Base):
        a = deprecation.HIDDEN_ATTRIBUTE

        @deprecation.hide_attribute_from_api
        def b(self):
            """Gone."""

    assert not hasattr(Without(), "a") and not hasattr(Without(), "b") and Base().a == 1


def test_device_functions_that_merge():
    merge = module("framework.device").MergeDevice("/job:a/gpu:0")
    node = tf.NodeDef(device="/task:1/cpu:0")
    assert merge.shortcut_string_merge(node) == merge(node).to_string() == "/job:a/task:1/device:CPU:0"
    assert not merge.is_null_merge and module("framework.device").MergeDevice("").is_null_merge


def test_static_shapes_within_functions():
    util = module("framework.tensor_util")
    with tf.Graph().as_default():
        shape, x = tf.constant([2, 3]), tf.placeholder(tf.float32)
        util.maybe_set_static_shape(x, shape)
        assert x.shape.rank is None

        @tf.function(input_signature=[tf.TensorSpec(None)])
        def shaped(x):
            util.maybe_set_static_shape(x, tf.constant([2, 3]))
            return x.shape.as_list()[1] * tf.ones([])

        with tf.Session() as session:
            assert session.run(shaped(tf.zeros([2, 3]))) == 3
    assert util.TensorShapeProtoToList(tf.TensorShape([1, None]).as_proto()) == [1, -1]
