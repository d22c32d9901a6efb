"""Session: fetches, feeds, and the errors that TensorFlow raises for misuse."""

import collections
import threading

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.runtime import local

Pair = collections.namedtuple("Pair", ["left", "right"])


@pytest.fixture
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def session(graph):
    with tf.Session(graph=graph) as session:
        yield session


# --- fetches -----------------------------------------------------------------------------------------------------


def test_fetches_keep_their_structure(session):
    a, b = tf.constant(2.0, name="a"), tf.constant([3, 5], name="b")
    result = session.run({"list": [a, "b:0"], "pair": Pair(a, (b, a.op)), "empty": []})
    assert result["list"][0] == 2.0
    np.testing.assert_array_equal(result["list"][1], [3, 5])
    assert isinstance(result["pair"], Pair)
    assert result["pair"].left == 2.0
    assert isinstance(result["pair"].right, tuple)
    assert result["pair"].right[1] is None
    assert result["empty"] == []


def test_a_list_and_a_tuple_of_the_same_fetches_are_told_apart(session):
    a = tf.constant(2.0)
    for _ in range(4):
        assert session.run([a, a]) == [2.0, 2.0]
        assert session.run((a, a)) == (2.0, 2.0)
        assert session.run(a) == 2.0
        assert type(session.run(Pair(a, a))) is Pair


def test_mappings_keep_their_type_and_order(session):
    a, b = tf.constant(2.0), tf.constant(3.0)
    result = session.run(collections.OrderedDict([("z", a), ("a", b)]))
    assert type(result) is collections.OrderedDict
    assert list(result.items()) == [("z", 2.0), ("a", 3.0)]


def test_scalars_are_numpy_scalars_and_strings_are_bytes(session):
    assert type(session.run(tf.constant(2.0))) is np.float32
    assert type(session.run(tf.constant(7))) is np.int32
    assert session.run(tf.constant("text")) == b"text"
    words = session.run(tf.constant(["a", "bc"]))
    assert words.dtype == object
    assert list(words) == [b"a", b"bc"]


def test_indexed_slices_are_fetched_as_values(session):
    slices = tf.IndexedSlices(tf.constant([[2.0, 3.0]]), tf.constant([5]), tf.constant([7, 2]))
    value = session.run(slices)
    np.testing.assert_array_equal(value.values, [[2.0, 3.0]])
    np.testing.assert_array_equal(value.indices, [5])
    np.testing.assert_array_equal(value.dense_shape, [7, 2])
    assert session.run(tf.IndexedSlices(tf.constant([2.0]), tf.constant([5]))).dense_shape is None


@pytest.mark.parametrize(
    ("fetch", "kind", "message"),
    [
        (None, TypeError, "Fetch argument None has invalid type <class 'NoneType'>"),
        (
            3,
            TypeError,
            "Fetch argument 3 has invalid type <class 'int'>, must be a string or Tensor. (Can not convert a int",
        ),
        ("nope", ValueError, "Fetch argument 'nope' cannot be interpreted as a Tensor. "),
        ("nope:0", ValueError, "The operation, 'nope', does not exist in the graph."),
        ("a:3", ValueError, "exists but only has 1 outputs."),
    ],
)
def test_bad_fetches(session, fetch, kind, message):
    a = tf.constant(2.0, name="a")
    for wrapped in (fetch, [a, fetch], {"x": fetch}):
        with pytest.raises(kind) as caught:
            session.run(wrapped)
        assert message in str(caught.value)


def test_fetch_of_another_graph(session):
    tf.constant(2.0)
    with tf.Graph().as_default():
        other = tf.constant(3.0)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(other)


def test_unfetchable(session, graph):
    a = tf.constant(2.0, name="a")
    graph.prevent_fetching(a.op)
    with pytest.raises(ValueError, match="Operation 'a' has been marked as not fetchable"):
        session.run(a)


# --- feeds -------------------------------------------------------------------------------------------------------


def test_any_tensor_may_be_fed_by_tensor_or_name(session):
    a = tf.constant(2.0)
    b = tf.add(a, 3.0, name="b")
    c = tf.multiply(b, 5.0)
    assert session.run(c, {b: 7.0}) == 35.0
    assert session.run(c, {"b:0": 11}) == 55.0
    assert session.run(c, {a: 1.0}) == 20.0
    assert session.run(c) == 25.0


def test_a_fetched_feed_is_handed_back(session):
    x = tf.placeholder(tf.float32, [2, 3])
    fed = np.ones((2, 3), np.float32)
    y, same = session.run([x * 2.0, x], {x: fed})
    np.testing.assert_array_equal(y, 2 * fed)
    np.testing.assert_array_equal(same, fed)


def test_results_do_not_share_memory_with_feeds_or_constants(session):
    x = tf.placeholder(tf.float32, [2, 3])
    c = tf.constant([2.0, 3.0])
    fed = np.ones((2, 3), np.float32)
    for _ in range(4):
        view, constant = session.run([tf.identity(x, name="i") if _ == 0 else "i:0", c], {x: fed})
        view[:] = 7
        constant[:] = 7
        assert (fed == 1).all()
    np.testing.assert_array_equal(session.run(c), [2.0, 3.0])


def test_earlier_results_stay_as_they_were(session):
    x = tf.placeholder(tf.float32, [None])
    y = tf.square(x) + 1.0
    z = tf.reshape(y, [-1, 1])
    results = []
    for i in range(6):
        results.append(session.run([y, z], {x: np.full(3, i, np.float32)}))
    for i, (first, second) in enumerate(results):
        np.testing.assert_array_equal(first, np.full(3, i * i + 1.0))
        np.testing.assert_array_equal(second, np.full((3, 1), i * i + 1.0))


@pytest.mark.parametrize(
    ("value", "kind", "message"),
    [
        (np.zeros((1, 2)), ValueError, "Cannot feed value of shape (1, 2) for Tensor 'x:0', which has shape '(2, 3)'"),
        (None, ValueError, "Cannot feed value of shape () for Tensor 'x:0', which has shape '(2, 3)'"),
        ("abc", ValueError, "could not convert string to float"),
        (object(), TypeError, "float() argument must be a string or a real number"),
    ],
)
def test_bad_feed_values(session, value, kind, message):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.identity(x)
    for _ in range(3):
        with pytest.raises(kind) as caught:
            session.run(y, {x: value})
        assert message in str(caught.value)
        session.run(y, {x: np.ones((2, 3))})


def test_a_tensor_cannot_be_a_feed_value(session):
    x = tf.placeholder(tf.float32, [])
    with pytest.raises(TypeError, match=r"The value of a feed cannot be a tf\.Tensor object"):
        session.run(x * 1.0, {x: tf.constant(2.0)})


def test_integers_that_do_not_fit(session):
    x = tf.placeholder(tf.int32, [])
    with pytest.raises(TypeError, match=r"Type of feed value 1099511627776 with type <class 'int'> is not compatible"):
        session.run(x + 1, {x: 2**40})
    assert session.run(x + 1, {x: np.int64(7)}) == 8


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (3, "Cannot interpret feed_dict key as Tensor: Can not convert a int into a Tensor."),
        ("x", "The name 'x' refers to an Operation, not a Tensor."),
        ("y:0", "The operation, 'y', does not exist in the graph."),
    ],
)
def test_bad_feed_keys(session, key, message):
    x = tf.placeholder(tf.float32, [], name="x")
    with pytest.raises(TypeError) as caught:
        session.run(x * 2.0, {key: 1.0})
    assert message in str(caught.value)


def test_feed_keys_may_be_nested_and_composite(session):
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    assert session.run(x - y, {(x, y): (5.0, 3.0)}) == 2.0
    slices = tf.IndexedSlices(tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [None]))
    value = session.run(slices.values * 2.0, {slices: ([3.0], [1])})
    np.testing.assert_array_equal(value, [6.0])
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
        session.run(x, {(x, y): (5.0,)})


def test_unfeedable(session, graph):
    a = tf.constant(2.0)
    graph.prevent_feeding(a)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(a * 2.0, {a: 3.0})


def test_a_tensor_that_was_fed_before_is_fed_no_more(session, graph):
    a = tf.placeholder(tf.float32, [])
    double = a * 2.0
    assert session.run(double, {a: 3.0}) == 6.0
    graph.prevent_feeding(a)
    with pytest.raises(ValueError, match="may not be fed"):
        session.run(double, {a: 3.0})


def test_strings_are_fed_as_text_or_bytes(session):
    x = tf.placeholder(tf.string, [None])
    y = tf.identity(x)
    assert list(session.run(y, {x: ["é", b"b"]})) == ["é".encode(), b"b"]
    same, copy = session.run([x, y], {x: ["é", b"b"]})
    assert same.tolist() == ["é", b"b"] and copy.tolist() == ["é".encode(), b"b"]  # what is fed comes back as it was given
    with pytest.raises(TypeError, match="Unsupported object type int"):
        session.run(y, {x: [3]})
    with pytest.raises(TypeError, match="Type of feed value 3 with type <class 'int'> is not compatible with Tensor type"):
        session.run(y, {x: 3})


def test_a_missing_feed_names_the_placeholder(session):
    x = tf.placeholder(tf.float32, [2, None], name="x")
    y = tf.square(x)
    for _ in range(4):
        with pytest.raises(errors.InvalidArgumentError) as caught:
            session.run(y)
        assert "You must feed a value for placeholder tensor 'x' with dtype float and shape [2,?]" in caught.value.message
        assert "[[{{node x}}]]" in caught.value.message
        assert caught.value.op is x.op


# --- what goes wrong while running -------------------------------------------------------------------------------


def test_uninitialized_variables_are_named(session):
    v = tf.Variable(2.0, name="v")
    for fetch in (v, v + 1.0, tf.assign_add(v, 1.0)):
        for _ in range(4):
            with pytest.raises(errors.FailedPreconditionError, match="Attempting to use uninitialized value v"):
                session.run(fetch)
    session.run(v.initializer)
    assert session.run(v) == 2.0


def test_a_kernel_failure_names_the_node_and_where_it_was_made(session):
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    product = tf.matmul(a, b, name="product")
    good = {a: np.ones((2, 3)), b: np.ones((3, 5))}
    bad = {a: np.ones((2, 3)), b: np.ones((2, 3))}
    for _ in range(4):
        session.run(product, good)
        with pytest.raises(errors.InvalidArgumentError) as caught:
            session.run(product, bad)
        assert "[[{{node product}}]]" in caught.value.message
        assert caught.value.op is product.op
        assert caught.value.node_def.name == "product"
        assert "test_session.py" in str(caught.value)


def test_a_failed_step_leaves_the_session_usable(session):
    x = tf.placeholder(tf.float32, [None])
    v = tf.Variable(tf.ones([3]))
    session.run(v.initializer)
    update = tf.assign_add(v, x)
    for _ in range(4):
        session.run(update, {x: [1.0, 1.0, 1.0]})
        with pytest.raises(errors.InvalidArgumentError):
            session.run(update, {x: [1.0, 1.0]})
    np.testing.assert_array_equal(session.run(v), [5.0, 5.0, 5.0])


def test_missing_devices_are_an_honest_error(graph):
    with tf.device("/gpu:0"):
        a = tf.constant(2.0, name="a")
    with tf.device("/job:worker/task:3"):
        b = tf.constant(2.0, name="b")
    with tf.Session(graph=graph) as session:
        with pytest.raises(errors.InvalidArgumentError) as caught:
            session.run(a)
        assert "Cannot assign a device for operation a" in caught.value.message
        assert "/device:GPU:0 but available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]" in str(
            caught.value
        )
    with tf.Session(graph=graph, config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(a) == 2.0
        with pytest.raises(errors.InvalidArgumentError, match="/job:worker"):
            session.run(b)


# --- life of a session -------------------------------------------------------------------------------------------


def test_local_sessions_do_not_share_variables(graph):
    v = tf.Variable(2.0)
    add = tf.assign_add(v, 3.0)
    with tf.Session(graph=graph) as first, tf.Session(graph=graph) as second:
        first.run(v.initializer)
        second.run(v.initializer)
        for _ in range(4):
            first.run(add)
        assert first.run(v) == 14.0
        assert second.run(v) == 2.0


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"target": 3}, TypeError, "target must be a string, but got <class 'int'>"),
        ({"graph": 3}, TypeError, "graph must be a tf.Graph, but got <class 'int'>"),
        ({"config": 3}, TypeError, "config must be a tf.ConfigProto, but got <class 'int'>"),
        ({"target": "foo://host"}, errors.NotFoundError, "No session factory registered for the given session options"),
    ],
)
def test_bad_arguments(arguments, kind, message):
    with pytest.raises(kind) as caught:
        tf.Session(**arguments)
    assert message in str(caught.value)


def test_an_empty_graph_cannot_be_run():
    with tf.Session(graph=tf.Graph()) as session:
        for fetches in ([], 1):
            with pytest.raises(RuntimeError, match=r"The Session graph is empty"):
                session.run(fetches)


def test_properties(session, graph):
    tf.constant(2.0, name="a")
    assert session.graph is graph
    assert [node.name for node in session.graph_def.node] == ["a"]
    assert session.sess_str == ""
    device = session.list_devices()[0]
    assert device.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert device.device_type == "CPU"


def test_nodes_added_later_run(session):
    a = tf.constant(2.0)
    for i in range(5):
        a = a + 1.0
        assert session.run(a) == 3.0 + i


def test_a_control_edge_added_later_counts(session):
    v = tf.Variable(2.0)
    session.run(v.initializer)
    a = tf.constant(3.0)
    y = tf.identity(a)
    for _ in range(4):
        session.run(y)
    assert session.run(v) == 2.0
    y.op._add_control_input(tf.assign_add(v, 5.0).op)
    session.run(y)
    assert session.run(v) == 7.0


def test_make_callable(session):
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [])
    call = session.make_callable([x + y, x - y], [x, y])
    for _ in range(4):
        assert call(5.0, 3.0) == [8.0, 2.0]
    with pytest.raises(TypeError, match="takes 2 values"):
        call(5.0)
    with pytest.raises(TypeError, match="`feed_list` must be a list or tuple"):
        session.make_callable(x, x)
    assert session.make_callable(tf.no_op())() is None
    options = session.make_callable(x, [x], accept_options=True)
    assert options(2.0, options=tf.RunOptions(), run_metadata=tf.RunMetadata()) == 2.0


def test_a_traced_step_of_constants_names_its_device():
    metadata = tf.RunMetadata()
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.constant(1.0), options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    assert device.device.endswith("CPU:0")


def test_a_step_may_be_run_while_it_is_planned(monkeypatch):
    """By garbage collection, say, that comes upon an iterator which ends with the same function."""
    x = tf.placeholder(tf.float32, [])
    doubled, compile_plan = x * 2.0, local.compile_plan
    found = []
    with tf.Session() as session:

        def interrupted(*args):
            if not found:
                found.append(None)
                found.append(session.run(doubled, {x: 2.0}))
            return compile_plan(*args)

        monkeypatch.setattr(local, "compile_plan", interrupted)
        thread = threading.Thread(target=lambda: found.append(session.run(doubled, {x: 3.0})), daemon=True)
        thread.start()
        thread.join(60)
        assert found == [None, 4.0, 6.0]
