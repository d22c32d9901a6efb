"""What `tf_inspect` says of functions under TensorFlow's decorators, and of functions with arguments that are bound."""

import functools

import pytest

from tfexp.stand_ins.modules import stand_for

tf_inspect = stand_for("tensorflow.python.util.tf_inspect")
tf_decorator = stand_for("tensorflow.python.util.tf_decorator")


def three(first, second, third, fourth=4):
    """Takes some."""


def other(*args):
    """Takes any."""


def test_the_outermost_decorator_that_knows_says_the_arguments():
    said = tf_inspect.ArgSpec(["x"], None, None, None)
    inner = tf_decorator.TFDecorator("inner", three, "", said)
    outer = tf_decorator.TFDecorator("outer", inner)
    assert tf_inspect.getargspec(outer) == said and tf_inspect.getfullargspec(outer).args == ["x"]
    assert tf_inspect.getargspec(functools.partial(tf_decorator.TFDecorator("d", three), 1)).args == [
        "second",
        "third",
        "fourth",
    ]
    decorators, target = tf_decorator.unwrap(outer)
    assert decorators == [outer, inner] and target is three
    assert tf_inspect.isroutine(outer) and not tf_inspect.isroutine(tf_decorator.TFDecorator("d", int))
    assert tf_inspect.getsourcefile(outer) == __file__


@pytest.mark.parametrize(
    ("partial", "args", "defaults"),
    [
        (functools.partial(three, 1), ["second", "third", "fourth"], (4,)),
        (functools.partial(three, third=3), ["first", "second", "third", "fourth"], (3, 4)),
        (functools.partial(three, 1, fourth=5), ["second", "third", "fourth"], (5,)),
    ],
)
def test_what_a_partial_binds_by_name_is_a_default(partial, args, defaults):
    assert tf_inspect.getargspec(partial) == (args, None, None, defaults)


def test_partials_that_no_arguments_express():
    with pytest.raises(ValueError, match=r"\['third'\] do not have default value"):
        tf_inspect.getargspec(functools.partial(three, second=2))
    with pytest.raises(ValueError, match="unknown partial keyword"):
        tf_inspect.getargspec(functools.partial(three, fifth=5))


def test_call_arguments():
    class Owner:
        def method(self, a, b=2):
            pass

        @classmethod
        def of_class(cls, a):
            pass

    owner = Owner()
    assert tf_inspect.getcallargs(owner.method, 1) == {"self": owner, "a": 1, "b": 2}
    assert tf_inspect.getcallargs(Owner.of_class, a=1) == {"cls": Owner, "a": 1}
    assert tf_inspect.getcallargs(lambda a, **k: None, 1, z=3) == {"a": 1, "z": 3}


def test_a_wrapper_keeps_its_own_attributes_and_a_decorators_text():
    def wrapper(*args):
        pass

    wrapper.mine = 1
    three.mine, three.other = 2, 3
    try:
        made = tf_decorator.make_decorator(three, wrapper, "name", "A text.")
    finally:
        del three.mine, three.other
    assert (made.mine, made.other, made.__doc__, made.__name__, made.__wrapped__) == (1, 3, "A text.", "three", three)
    assert tf_decorator.make_decorator(three, other).__doc__ == "Takes some."
