"""Templates: variables made once, in a scope of their own; operations named anew."""

import pytest

import tfexp as tf
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def scaled(x, scale):
    return x * tf.get_variable("w", [], initializer=tf.ones_initializer()) * scale


def names(variables):
    return [v.name for v in variables]


def test_calls_share_variables():
    template = tf.make_template("t", scaled, scale=2.0)
    assert template.variable_scope is None
    assert template.variables == []
    first, second = template(1.0), template(3.0)
    assert (first.name, second.name) == ("t/mul_1:0", "t_1/mul_1:0")
    assert names(tf.global_variables()) == names(template.variables) == names(template.trainable_variables) == ["t/w:0"]
    assert template.non_trainable_variables == []
    assert (template.name, template.variable_scope_name) == ("t", "t/")
    assert template.var_scope is template.variable_scope


def test_each_template_has_its_own_scope_unless_it_is_named():
    for _ in range(2):
        tf.make_template("t", scaled, scale=2.0)(1.0)
    assert names(tf.global_variables()) == ["t/w:0", "t_1/w:0"]
    tf.make_template("t", scaled, unique_name_="exactly", scale=1.0)(1.0)
    assert names(tf.global_variables())[-1] == "exactly/w:0"


def test_the_scope_may_be_made_where_the_template_is():
    with tf.variable_scope("outer"):
        template = tf.make_template("t", scaled, create_scope_now_=True, scale=1.0)
    assert template.variable_scope_name == "outer/t/"
    assert template(3.0).name == "t/mul_1:0"
    assert names(template.variables) == ["outer/t/w:0"]


def test_a_trainable_variable_of_a_later_call_is_refused():
    template = tf.make_template("t", lambda x: tf.Variable(1.0) * x)
    template(1.0)
    with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
        template(1.0)


def test_the_scope_has_an_older_name():
    template = tf.make_template("t", lambda: tf.get_variable("v", []), create_scope_now_=True)
    assert template.var_scope is template.variable_scope and template.var_scope.name == "t"


@pytest.mark.parametrize("traced", [True, False])
def test_a_template_of_eager_execution_keeps_its_variables(traced):
    def nested(x):
        return tf.make_template("inner", scaled, scale=2.0)(x) * tf.get_variable("v", [], initializer=tf.ones_initializer())

    with eager_mode():
        template = tf.make_template("t", nested)
        call = tf.function(template) if traced else template
        assert [call(tf.constant(value)).numpy() for value in (3.0, 5.0)] == [6.0, 10.0]
        assert names(template.variables) == names(template.trainable_variables) == ["t/inner/w:0", "t/v:0"]
        template.variables[1].assign(7.0)
        assert call(tf.constant([1.0])).numpy() == [14.0]


def test_later_calls_make_no_trainable_variables_in_eager_execution_either():
    numbers = iter("12")
    with eager_mode():
        template = tf.make_template("t", lambda: tf.get_variable(f"v{next(numbers)}", []))
        template()
        with pytest.raises(ValueError, match="Trainable variable created when calling a template after the first time"):
            template()


def test_a_template_needs_a_name():
    with pytest.raises(ValueError, match="name cannot be None"):
        tf.make_template(None, lambda: 1)


def test_a_template_without_a_name_is_below_the_scope_where_it_is_called():
    with tf.Graph().as_default():
        template = tf.make_template("", lambda: tf.get_variable("v", []))
        with tf.variable_scope("outer"):
            assert template().name == "outer//v:0"
        assert template.variable_scope_name == "outer/"
