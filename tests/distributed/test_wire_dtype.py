"""float32 values that cross from task to task in 16 bits: which ones do, what comes of them, and what it saves."""

import ml_dtypes
import numpy as np
import pytest
from tensorboard.compat.proto import config_pb2

import tfexp as tf
from tests.distributed.clusters import leave_nothing, running
from tfexp.plan.narrow import NAME

ROUNDED = {tf.bfloat16: ml_dtypes.bfloat16, tf.float16: np.float16}
RATE = 0.1


def config(dtype):
    found = config_pb2.ConfigProto()
    if dtype is not None:
        added = found.graph_options.rewrite_options.custom_optimizers.add(name=NAME)
        added.parameter_map["dtype"].type = dtype.as_datatype_enum
    return found


def rounded(values, dtype):
    return values.astype(ROUNDED[dtype]).astype(np.float32) if dtype else values


@pytest.fixture(scope="module")
def servers():
    with running(ps=2, worker=1) as found:
        yield found
        leave_nothing(found)


class Model:
    """A matrix on one server and a table, whose rows the worker looks up, on the other."""

    def __init__(self, rows=7, width=5):
        random = np.random.default_rng(3)
        self.matrix = random.standard_normal([rows, width]).astype(np.float32)
        self.table = random.standard_normal([rows, width]).astype(np.float32)
        self.x = random.standard_normal([3, rows]).astype(np.float32)
        self.ids = [1, 4, 1]
        with tf.Graph().as_default() as self.graph:
            with tf.device(tf.train.replica_device_setter(2, worker_device="/job:worker/task:0")):
                matrix = tf.get_variable("matrix", initializer=self.matrix)
                table = tf.get_variable("table", initializer=self.table)
                looked_up = tf.nn.embedding_lookup(table, self.ids)
                self.product = tf.matmul(tf.constant(self.x), matrix) + looked_up
                self.rate = tf.constant(RATE) * 1.0
                self.train = tf.train.GradientDescentOptimizer(self.rate).minimize(tf.nn.l2_loss(self.product))
                self.saver = tf.train.Saver()
                self.initialize = tf.global_variables_initializer()
            self.variables = [matrix, table]


@pytest.mark.parametrize("dtype", [None, tf.bfloat16, tf.float16])
def test_parameters_and_gradients_are_rounded_and_nothing_else(dtype, servers, tmp_path):
    model = Model()
    with tf.Session(servers["worker:0"].target, graph=model.graph, config=config(dtype)) as session:
        session.run(model.initialize)
        for value, expected in zip(session.run(model.variables), (model.matrix, model.table), strict=True):
            np.testing.assert_array_equal(value, expected, "initial values and fetches are exact")

        product = model.x @ rounded(model.matrix, dtype) + rounded(model.table, dtype)[model.ids]
        np.testing.assert_allclose(session.run(model.product), product, rtol=1e-6, atol=1e-6)

        session.run(model.train)
        matrix = model.matrix - np.float32(RATE) * rounded(model.x.T @ product, dtype)
        table = model.table.copy()
        for row, gradient in zip(model.ids, rounded(product, dtype), strict=True):
            table[row] -= np.float32(RATE) * gradient
        trained = session.run(model.variables)
        # a product that lies between two 16-bit numbers may be rounded to either
        spread = 0 if dtype is None else RATE * 2.0**-7 * np.abs(product).max() * 2
        np.testing.assert_allclose(trained[0], matrix, rtol=1e-5, atol=1e-5 + spread)
        np.testing.assert_allclose(trained[1], table, rtol=1e-5, atol=1e-5 + spread)
        np.testing.assert_array_equal(trained[1][[0, 2, 3, 5, 6]], model.table[[0, 2, 3, 5, 6]])

        path = model.saver.save(session, str(tmp_path / "model"))
        for name, value in zip(("matrix", "table"), trained, strict=True):
            np.testing.assert_array_equal(tf.train.load_variable(path, name), value, "what is saved is exact")
        session.run(model.initialize)
        model.saver.restore(session, path)
        for value, expected in zip(session.run(model.variables), trained, strict=True):
            np.testing.assert_array_equal(value, expected, "what is restored is exact")


def test_tensorflows_own_switch_is_bfloat16(servers):
    model = Model()
    own = config_pb2.ConfigProto()
    own.graph_options.enable_bfloat16_sendrecv = True
    products = []
    for options in (own, config(tf.bfloat16)):
        with tf.Session(servers["worker:0"].target, graph=model.graph, config=options) as session:
            session.run(model.initialize)
            products.append(session.run(model.product))
    np.testing.assert_array_equal(*products)


def test_a_step_takes_half_the_bytes_and_a_sparse_gradient_only_its_rows(servers):
    traffic = servers["worker:0"].traffic
    tf.Session.reset(servers["worker:0"].target)  # the variables of the tests before have other shapes
    model = Model(rows=1009, width=64)
    sent, received = {}, {}
    for dtype in (None, tf.bfloat16):
        with tf.Session(servers["worker:0"].target, graph=model.graph, config=config(dtype)) as session:
            session.run(model.initialize)
            session.run(model.train)
            steps = []
            for _ in range(3):  # during one of them, what an earlier session has left may be told
                before = traffic.sent, traffic.received
                session.run(model.train)
                steps.append((traffic.sent - before[0], traffic.received - before[1]))
            sent[dtype], received[dtype] = min(steps)
    whole = 1009 * 64 * 4
    for counted in (sent, received):
        assert whole < counted[None] < whole + 8192, "the matrix, and of the table three rows"
        assert whole / 2 < counted[tf.bfloat16] < whole / 2 + 8192


def test_other_types_are_refused(servers):
    model = Model()
    with (
        tf.Session(servers["worker:0"].target, graph=model.graph, config=config(tf.int32)) as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="bfloat16 or float16, and it is int32"),
    ):
        session.run(model.initialize)
