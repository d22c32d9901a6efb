"""`tf.Module`: names, scopes, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import tfexp as tf


@pytest.fixture(autouse=True)
def _fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Inner(tf.Module):
    def __init__(self, name: str | None = None):
        super().__init__(name)
        with self.name_scope:
            self.v = tf.Variable(1.0, name="v")


class Outer(tf.Module):
    def __init__(self, name: str | None = None):
        super().__init__(name=name)
        self.w = tf.Variable(1.0, name="w")
        self._hidden = tf.Variable(2.0, name="hidden", trainable=False)
        self.listed: list[Any] = [Inner(), {"q": Inner(name="other")}]
        self.again, self.number = self.w, 3
        self.inner = Inner(name="x")
        self.inner.deep = Inner(name="deep")
        self.inner.up = self

    @tf.Module.with_name_scope
    def named(self) -> str:
        name: str = tf.constant(1.0).name
        return name


def test_parts_come_once_by_attribute_and_the_modules_parts_after() -> None:
    module = Outer()
    names = ["hidden:0", "w:0", "x/v:0", "deep/v:0", "inner/v:0", "other/v:0"]
    assert [v.name for v in module.variables] == names
    assert [v.name for v in module.trainable_variables] == names[1:]
    assert [part.name for part in module.submodules] == ["x", "inner", "other", "deep"]


def test_names_are_the_classes_and_scopes_are_unique() -> None:
    class MyHTTPNet2(tf.Module):
        pass

    assert MyHTTPNet2().name == "my_http_net2"
    first, second = Inner(), Inner()
    assert (first.name, second.name) == ("inner", "inner")
    assert (first.v.name, second.v.name) == ("inner/v:0", "inner_1/v:0")
    outer = Outer("mine")
    assert (outer.named(), outer.named()) == ("mine/Const:0", "mine/Const_1:0")
    with pytest.raises(ValueError, match="'a b' is not a valid module name"):
        Inner("a b")
    with pytest.raises(ValueError, match="'class' is not a valid module name"):
        Inner("class")


def test_a_checkpoint_holds_a_module(tmp_path: Any) -> None:
    module = Outer()
    checkpoint = tf.train.Checkpoint(module=module)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = checkpoint.save(str(tmp_path / "saved"), session=session)
        assert "module/inner/deep/v/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))


def test_a_property_takes_the_value_that_it_has() -> None:
    class Sized(tf.Module):
        @property
        def size(self) -> str:
            return "large"

    sized = Sized()
    sized.size = sized.size  # type: ignore[misc]
    with pytest.raises(AttributeError):
        sized.size = "small"  # type: ignore[misc]


def test_some_attributes_are_no_parts() -> None:
    class Cached(tf.Module):
        _TF_MODULE_IGNORED_PROPERTIES = tf.Module._TF_MODULE_IGNORED_PROPERTIES.union(("_seen",))

        def __init__(self) -> None:
            super().__init__()
            self.v = tf.Variable(1.0)
            self._seen = self._no_dependency({"w": tf.Variable(2.0)})

    module = Cached()
    assert module.variables == (module.v,)
    assert [name for name, _ in module._checkpoint_children()] == ["v"]


def test_layers_and_linear_operators_are_modules() -> None:
    layer = tf.keras.layers.Dense(2, name="dense")
    layer.build((None, 3))

    class Holder(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = [layer]
            self.operator = tf.linalg.LinearOperatorDiag([1.0])

    holder = Holder()
    assert [type(part).__name__ for part in holder.submodules] == ["Dense", "LinearOperatorDiag"]
    assert [variable.name for variable in holder.variables] == ["kernel:0", "bias:0"]
    assert tf.keras.Sequential([layer]).submodules == (layer,)
    assert isinstance(tf.layers.Dense(1), tf.Module)
    with pytest.raises(AttributeError):
        _ = layer.name_scope  # layers are made without a scope of their own


def test_lists_and_dicts_of_private_attributes_are_parts() -> None:
    class Pair(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self._both = [tf.Variable(1.0), {"b": tf.Variable(2.0)}]

    pair = Pair()
    assert [name for name, _ in pair._checkpoint_children()] == ["_both"]
    layer = tf.keras.layers.Layer()
    layer._hidden = [tf.keras.layers.Dense(2)]
    assert [name for name, _ in layer._checkpoint_children()] == ["_hidden"]


def test_a_part_may_have_a_name_that_is_no_attribute() -> None:
    module, first, second = tf.Module(), tf.Module(), tf.Module()
    assert module._track_trackable(first, "part") is first is module._track_trackable(first, name="part")
    assert not hasattr(module, "part") and module._checkpoint_children() == [("part", first)]
    with pytest.raises(ValueError, match="name='part'"):
        module._track_trackable(second, "part")
    module._track_trackable(second, "part", overwrite=True)
    assert module._checkpoint_children() == [("part", second)]
    with pytest.raises(TypeError, match="not a Trackable"):
        module._track_trackable(3, "number")


@pytest.mark.parametrize("later", [3, None, lambda: 1])
def test_a_part_stays_one_where_a_value_takes_its_attribute(later: Any) -> None:
    def parts(one: Any) -> list[Any]:
        return [part for _, part in one._checkpoint_children()]

    first, second = tf.Variable(1.0), tf.Variable(2.0)
    module = tf.Module()
    module.x = first
    module.x = later
    assert parts(module) == [first]
    module.x = second
    assert parts(module) == [second]
    module.x = later
    del module.x
    assert parts(module) == []
    layer = tf.keras.layers.Layer()
    layer.x = first
    layer.x = later
    assert parts(layer) == []
