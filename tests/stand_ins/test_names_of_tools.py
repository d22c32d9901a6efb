"""Names that libraries take from TensorFlow's tools, sessions, layers and resolvers. Results are TensorFlow 1.15's."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

doc_controls = stand_for("tensorflow.tools.docs.doc_controls")
session_module = stand_for("tensorflow.python.client.session")
layers_utils = stand_for("tensorflow.python.layers.utils")


class Marked:
    @doc_controls.do_not_doc_inheritable
    def never_below(self): ...

    @doc_controls.do_not_generate_docs
    def never(self): ...

    @doc_controls.for_subclass_implementers
    def to_define(self): ...

    @property
    @doc_controls.do_not_doc_in_subclasses
    def property_to_define(self): ...

    def plain(self): ...


class Inherits(Marked): ...


class Overrides(Marked):
    def never_below(self): ...

    def never(self): ...

    def to_define(self): ...

    def plain(self): ...


class MarksAgain(Overrides):
    @doc_controls.for_subclass_implementers
    def never_below(self): ...

    @doc_controls.for_subclass_implementers
    def to_define(self): ...


@pytest.mark.parametrize(
    ("name", "skipped"),  # in each of the four classes
    [
        ("never_below", [True, True, True, False]),
        ("never", [True, True, False, False]),
        ("to_define", [False, True, True, False]),
        ("property_to_define", [False, True, True, True]),
        ("plain", [False, False, False, False]),
    ],
)
def test_methods_without_pages(name, skipped):
    classes = (Marked, Inherits, Overrides, MarksAgain)
    assert [doc_controls.should_skip_class_attr(cls, name) for cls in classes] == skipped


def test_objects_without_pages():
    function = doc_controls.do_not_generate_docs(lambda: 1)
    assert function() == 1 and doc_controls.should_skip(function)
    assert doc_controls.should_skip(Marked.never_below) and not doc_controls.should_skip(Marked.to_define)
    assert not doc_controls.should_skip(3)
    with pytest.raises(AttributeError, match="nothing"):
        doc_controls.should_skip_class_attr(Marked, "nothing")


def test_sessions_have_an_interface():
    assert issubclass(tf.Session, session_module.SessionInterface)
    assert issubclass(tf.InteractiveSession, session_module.SessionInterface)

    class Wrapper(session_module.SessionInterface):
        def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
            return fetches

    wrapper = Wrapper()
    assert wrapper.run(3) == 3
    for ask in (
        lambda: wrapper.graph,
        lambda: wrapper.sess_str,
        lambda: wrapper.partial_run(None, 3),
        lambda: wrapper.partial_run_setup(3),
    ):
        with pytest.raises(NotImplementedError):
            ask()


def test_what_is_computed_from_inputs():
    with tf.Graph().as_default():
        x, other = tf.placeholder(tf.float32, [2, None]), tf.constant(1.0)
        y = x * 2.0
        z = tf.exp(y) + other
        variable = tf.get_variable("v", [2])
        assert layers_utils.get_reachable_from_inputs([x]) == {x, y, z.op.inputs[0], z}
        assert layers_utils.get_reachable_from_inputs([x], targets=[y]) == {x, y}
        assert {one.name for one in layers_utils.get_reachable_from_inputs([variable])} == {"v:0", "v/Assign:0", "v/read:0"}
        assert layers_utils.static_shape(x) == (2, None)
        assert layers_utils.static_shape(tf.placeholder(tf.float32)) is None
        assert layers_utils.object_list_uid([x]) != layers_utils.object_list_uid([y])


@pytest.mark.parametrize("name", ["cluster_resolver", "tfconfig_cluster_resolver"])
def test_addresses_with_protocols(name):
    resolver = stand_for(f"tensorflow.python.distribute.cluster_resolver.{name}")
    found = [resolver.format_master_url("a:1", layer) for layer in (None, "", "grpc")]
    assert [resolver.format_master_url("a:1"), *found] == ["a:1", "a:1", "a:1", "grpc://a:1"]


def test_a_device_has_its_whole_name():
    device = session_module._DeviceAttributes("/job:a/replica:0/task:3/cpu:0", "TYPE", 5, 7)
    assert device.name == "/job:a/replica:0/task:3/device:CPU:0" and str(device).startswith("_DeviceAttributes(/job:a/")
    assert (device.device_type, device.memory_limit_bytes, device.incarnation) == ("TYPE", 5, 7)
