"""`Defun`: Python functions in the graph's library, called by nodes whose type is their name."""

import pytest

import tfexp as tf
from tfexp.core.errors import InvalidArgumentError
from tfexp.ops.defun import Defun, get_extra_args, get_extra_inputs, get_extra_vars


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_call_is_a_node_of_the_functions_name(session):
    @Defun(tf.float32, tf.float32, func_name="PlusMinus", out_names=["plus", "minus"], noinline=True)
    def plus_minus(a, b):
        """Sum and difference."""
        return a + b, b - a

    plus, minus = plus_minus(2.0, 5.0, name="called")
    assert (plus.op.name, plus.op.type) == ("called", "PlusMinus")
    assert session.run([plus, minus]) == [7.0, 3.0]
    (function,) = session.graph.as_graph_def().library.function
    assert [arg.name for arg in function.signature.input_arg] == ["a", "b"]
    assert [arg.name for arg in function.signature.output_arg] == ["plus", "minus"]
    assert function.signature.description == "Sum and difference." and function.attr["_noinline"].b
    assert session.graph._is_function("PlusMinus") and plus_minus.declared_input_types == (tf.float32, tf.float32)
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(session.graph.as_graph_def(), name="")
        with tf.Session() as other:
            assert other.run(copy.get_tensor_by_name("called:1")) == 3.0


def test_what_it_uses_of_the_graph_around_it_is_handed_over(session):
    outside, weight = tf.constant(3.0, name="outside"), tf.Variable(5.0, name="weight")
    extra = []

    @Defun(tf.float32)
    def scaled(x):
        with tf.variable_scope("inner"):
            offset = tf.get_variable("offset", [], initializer=tf.ones_initializer())
        result = x * outside * weight + offset
        extra.extend(zip(get_extra_inputs(), get_extra_args(), strict=True))
        return result

    y = scaled(2.0)
    session.run(tf.global_variables_initializer())
    assert session.run(y) == 31.0 and [v.op.name for v in tf.global_variables()] == ["weight", "inner/offset"]
    assert [t.name for t in scaled.captured_inputs] == ["outside:0", "weight/read:0", "inner/offset/read:0"]
    assert extra[0][0] is outside and extra[0][1].graph is not outside.graph and get_extra_inputs() == []
    assert session.run(tf.gradients(y, [outside, weight])) == [10.0, 6.0]

    @Defun(capture_by_value=True)
    def copied():
        return outside + 1.0

    assert session.run(copied()) == 4.0 and copied.captured_inputs == []
    with pytest.raises(ValueError, match=r"Cannot capture a stateful node \(name:weight, type:VariableV2\) by value"):
        Defun(capture_by_value=True)(lambda: weight + 1.0)()


def test_gradients_for_variables_have_their_type_and_shape(session):
    weight = tf.get_variable("weight", [3, 2], initializer=tf.ones_initializer(), use_resource=True)
    y = Defun(tf.float32)(lambda x: x * tf.reduce_sum(weight * weight))(5.0)
    (gradient,) = tf.gradients(y, weight)
    assert gradient.dtype is tf.float32 and gradient.shape.as_list() == [3, 2]
    session.run(tf.global_variables_initializer())
    assert session.run(gradient).tolist() == [[10.0, 10.0]] * 3


def test_gradients_are_what_one_says(session):
    @Defun(tf.float32, tf.float32)
    def twice(x, dy):
        return 2.0 * dy

    @Defun(tf.float32, grad_func=twice)
    def by_function(x):
        return x * x

    @Defun(tf.float32, python_grad_func=lambda op, dy: 7.0 * dy)
    def by_rule(x):
        return by_function(x) * x

    x = tf.constant(3.0)
    y, z = by_function(x), by_rule(x)
    (dy,), (dz,) = tf.gradients(y, x), tf.gradients(z, x)
    assert dy.op.type == "SymbolicGradient" and session.run([y, z, dy, dz]) == [9.0, 27.0, 2.0, 7.0]
    (gradient,) = session.graph.as_graph_def().library.gradient
    assert (gradient.function_name, gradient.gradient_func) == (by_function.name, twice.name)
    with tf.Graph().as_default() as copy:
        tf.import_graph_def(session.graph.as_graph_def(), name="")
        with tf.Session() as other:
            assert other.run(copy.get_tensor_by_name(dy.name)) == 2.0
    with tf.Graph().as_default() as fresh, tf.Session() as other:  # what it calls comes along
        assert other.run(by_rule(2.0)) == 8.0 and {by_function.name, twice.name} <= set(fresh._functions)


def test_without_types_there_is_one_for_each(session):
    @Defun()
    def doubled(x):
        return x + x

    assert session.run([doubled(1.5), doubled(3), doubled(2.0)]) == [3.0, 6, 4.0]
    assert len(session.graph._functions) == 2


def test_effects_and_shapes(session):
    @Defun(tf.float32, shape_func=lambda op: [[3, 4]])
    def same(x):
        return x

    @Defun()
    def effect():
        tf.py_func(lambda: called.append(True), [], [])

    called = []
    assert same(tf.placeholder(tf.float32)).shape == [3, 4]
    session.run(effect())
    assert called == [True] and effect.stateful_ops == [("PyFunc", "PyFunc")]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Defun()(lambda: (None, None)).definition, ValueError, "can not return None"),
        (lambda: Defun()(lambda a=1: a), ValueError, "are not supported"),
        (lambda: Defun()(lambda **rest: rest), ValueError, "are not supported"),
        (lambda: Defun(tf.float32)(lambda a, b: a), ValueError, "specified input types"),
        (lambda: Defun(tf.float32, typo=1)(lambda a: a), ValueError, "Unknown keyword arguments: typo"),
        (lambda: Defun(tf.float32)(lambda a: a)(), ValueError, "number of arguments: 1, received: 0"),
        (lambda: Defun(tf.float32)(lambda a: a)(1), ValueError, "'a' passed int32 expected float32"),
        (lambda: Defun(tf.float32)(lambda a: a)(1.0, typo=1), ValueError, "Unknown keyword arguments: typo"),
        (
            lambda: Defun(tf.float32, out_names="ab")(lambda a: a).name,
            InvalidArgumentError,
            "output names must be either empty",
        ),
        (
            lambda: Defun(tf.float32, out_names=["a", "a"])(lambda a: (a, a)).name,
            InvalidArgumentError,
            "Name 'a' appears more than once",
        ),
        (lambda: _two(), InvalidArgumentError, "different function"),
    ],
)
def test_refusals(session, make, error, message):
    with pytest.raises(error, match=message):
        make()


def _two():
    return [Defun(func_name="one")(body)() for body in (lambda: tf.constant(1), lambda: tf.constant(2))]


def test_results_choose_their_names_first():
    """Then arguments, then nodes; as TF 1.15 writes them."""

    def body(Xy, y):
        with tf.name_scope("in"):
            z = tf.add(Xy, y, name="Z.a")
        return z, z, tf.identity(z, name="in_z_a_0"), Xy

    def written(**kwargs):
        definition = Defun(tf.float32, tf.float32, **kwargs)(body).definition
        signature = definition.signature
        nodes = {node.name: list(node.input) for node in definition.node_def}
        names = [[arg.name for arg in args] for args in (signature.input_arg, signature.output_arg)]
        return *names, nodes, dict(definition.ret)

    arguments, results, nodes, values = written()
    assert arguments == ["xy_0", "y"]
    assert results == ["in_z_a", "in_z_a_0", "in_z_a_0_0", "xy"]
    assert nodes == {"in/Z.a": ["xy_0", "y"], "in_z_a_0_1": ["in/Z.a:z:0"]}
    assert values == dict(zip(results, ["in/Z.a:z:0", "in/Z.a:z:0", "in_z_a_0_1:output:0", "xy_0"], strict=True))
    arguments, results, nodes, _ = written(out_names=["y", "b", "Xy", "in_z_a_0"])
    assert (arguments, results, list(nodes)) == (["xy", "y_0"], ["y", "b", "Xy", "in_z_a_0"], ["in/Z.a", "in_z_a_0_0"])


def test_variables_stand_below_the_scope_of_the_first_call_whose_values_are_handed_over(session):
    used = []

    @Defun(tf.float32)
    def scaled(x):
        assert tf.get_variable_scope().name == ""
        with tf.variable_scope("deep"):
            scale = tf.get_variable("scale", [2, 3], initializer=tf.ones_initializer(), use_resource=True)
        used.extend(get_extra_vars())
        return x * scale

    with tf.variable_scope("first"):
        y = scaled(5.0)
    with tf.variable_scope("second"):
        scaled(7.0)
    assert [v.name for v in used] == [v.name for v in tf.global_variables()] == ["first/deep/scale:0"]
    assert [t.dtype for t in scaled.captured_inputs] == [tf.float32] and get_extra_vars() == []
    session.run(tf.global_variables_initializer())
    assert session.run(y).tolist() == [[5.0] * 3] * 2

    @Defun(capture_resource_var_by_value=False)
    def held():
        return tf.get_variable("held", [2], use_resource=True).read_value()

    held()
    assert [t.dtype for t in held.captured_inputs] == [tf.resource]


def test_its_nodes_are_on_the_devices_around_its_definition(session):
    with tf.device("/cpu:0"):

        @Defun(tf.float32)
        def doubled(x):
            return x * 2.0

    with tf.device("/cpu:1"):
        call = doubled(3.0).op
    assert call.device == "/device:CPU:1"
    assert {node.device for node in doubled.definition.node_def} == {"/device:CPU:0"}


def test_its_nodes_wait_for_nothing_outside(session):
    outside = tf.constant(3.0, name="outside")

    @Defun()
    def waits():
        with tf.control_dependencies([outside]):
            return tf.constant(1.0)

    with pytest.raises(ValueError, match=r"'outside'.*'waits'.* is not an element of this graph"):
        waits()


def test_attributes_of_free_names_have_the_kind_of_their_value():
    @Defun(
        tf.int32, experimental_tag="a", experimental_count=3, experimental_rate=0.5, experimental_on=True, _implements="one"
    )
    def marked(x):
        return tf.identity(x)

    with tf.Graph().as_default():
        attrs = marked.definition.attr
    assert (attrs["experimental_tag"].s, attrs["experimental_count"].i, attrs["experimental_rate"].f) == (b"a", 3, 0.5)
    assert attrs["experimental_on"].b and attrs["_implements"].s == b"one"
    with pytest.raises(ValueError, match=r"Unsupported attribute type for _reference with type <class 'int'>"):
        Defun(tf.int32, _reference=3)


def test_of_stateful_nodes_those_are_copied_that_it_names(session):
    drawn = tf.random_uniform([5], 3, 7, tf.int32)

    @Defun(capture_by_value=True, whitelisted_stateful_ops={drawn.op})
    def copied():
        return drawn + 10

    assert all(13 <= one < 17 for one in session.run(copied()))


def test_the_seed_of_the_graph_around_it_is_not_that_of_what_it_draws(session):
    tf.set_random_seed(3)

    @Defun()
    def drawn():
        return tf.random_uniform([], seed=5), tf.random_uniform([])

    drawn()
    seeds = [(node.attr["seed"].i, node.attr["seed2"].i) for node in drawn.definition.node_def if "seed" in node.attr]
    assert seeds[1] == (0, 0) and seeds[0][1] == 5


def test_a_gradient_is_of_one_kind_and_gives_one_value_for_each_argument(session):
    both = Defun(tf.float32, tf.float32)(lambda x, dy: [x, dy])
    twice = Defun(tf.float32, func_name="twice", grad_func=both, python_grad_func=lambda op, dy: dy)(lambda x: x)
    with pytest.raises(ValueError, match="Gradient defined twice for function twice"):
        twice(1.0)
    x = tf.constant(3.0)
    y = Defun(tf.float32, grad_func=both)(lambda x: x * x)(x)
    with pytest.raises(InvalidArgumentError, match=r"SymGrad expects to return 1 tensor\(s\), but get 2"):
        session.run(tf.gradients(y, x))
