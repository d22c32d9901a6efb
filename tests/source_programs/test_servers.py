"""What the sources' programs print where servers are needed; ports are free ones instead of the sources' own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tests.distributed.clusters import free_ports, running

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, tf.train.Server]]:
    with running(ps=2, worker=3) as servers:
        yield servers


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_d_opening_a_session(servers: dict[str, tf.train.Server]) -> None:
    a = tf.constant(1.0)
    b = a + 2
    c = a * 3 + (b - b)
    with tf.Session(servers["worker:1"].target):
        assert c.eval() == 3.0
        assert (b * 3).eval() == 9.0


def test_d_pinning_operations_across_tasks(servers: dict[str, tf.train.Server]) -> None:
    with tf.device("/job:ps"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/job:worker"):
        b = a + 2
    with tf.device("/job:worker/task:1"):
        c = a + b
    with tf.Session(servers["ps:0"].target) as sess:
        sess.run(a.initializer)
        assert c.eval() == 4.0


def test_d_sharding_variables(servers: dict[str, tf.train.Server]) -> None:
    setter = tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")
    with tf.device(setter):
        variables = [tf.Variable(float(i), name=f"v{i}") for i in range(1, 6)]
        s = variables[0] + variables[1]
        with tf.device("/gpu:0"):
            p1 = 2 * s
            with tf.device("/task:1"):
                p2 = 3 * s
    assert [v.device for v in variables] == [f"/job:ps/task:{i}" for i in (0, 1, 0, 1, 0)]
    assert [t.device for t in (s, p1, p2)] == ["/job:worker", "/job:worker/device:GPU:0", "/job:worker/task:1/device:GPU:0"]
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(servers["ps:0"].target, config=config) as sess:
        sess.run([v.initializer for v in variables])
        assert sess.run([p1, p2]) == [6.0, 9.0]


def test_d_sharing_state_across_sessions(servers: dict[str, tf.train.Server]) -> None:
    """simple_client.py: through two servers, the second run goes on where the first one stopped."""
    printed = []
    for server in ("worker:0", "worker:1"):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                x = tf.get_variable("shared_by_name", shape=[], initializer=tf.zeros_initializer())
            increment_x = tf.assign(x, x + 1)
            with tf.Session(servers[server].target) as sess:
                if sess.run(tf.report_uninitialized_variables([x])).size:
                    sess.run(x.initializer)
                sess.run(increment_x)
                printed.append(x.eval())
    assert printed == [1.0, 2.0]
    tf.Session.reset(servers["worker:0"].target)
    with tf.variable_scope("", reuse=tf.AUTO_REUSE), tf.device("/job:ps/task:0"):
        x = tf.get_variable("shared_by_name", shape=[], initializer=tf.zeros_initializer())
    with tf.Session(servers["worker:1"].target) as sess, pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(x)


def test_d_containers_keep_problems_apart(servers: dict[str, tf.train.Server]) -> None:
    target = servers["ps:1"].target
    with tf.device("/job:ps/task:1"), tf.container("my_problem_1"):
        mine = tf.get_variable("x", initializer=1.0)
    with tf.device("/job:ps/task:1"), tf.container("my_problem_2"), tf.variable_scope("other"):
        other = tf.get_variable("x", initializer=2.0)
    with tf.Session(target) as sess:
        sess.run([mine.initializer, other.initializer])
    tf.Session.reset(target, ["my_problem_1"])
    with tf.Session(target) as sess:
        assert sess.run(other) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(mine)


def test_i_a_client_of_one_server(tmp_path: Path) -> None:
    (port,) = free_ports(1)
    server = tf.train.Server(tf.train.ClusterSpec({"worker": [f"localhost:{port}"]}), job_name="worker", task_index=0)
    with tf.device("/job:worker/task:0"), tf.device("/cpu:0"):
        a = tf.constant([1.5, 6.0], name="a")
        b = tf.Variable([1.5, 3.2], name="b")
        c = (a * b) + (a / b)
        d = c * a
        y = tf.assign(b, d)
    with tf.Session(f"grpc://localhost:{port}") as sess:
        sess.run(tf.global_variables_initializer())
        tf.summary.FileWriter(str(tmp_path), graph=tf.get_default_graph()).close()
        np.testing.assert_allclose(sess.run(y), [4.875, 126.45000458], rtol=1e-6)
    server.stop()


def test_n_a_model_on_two_parameter_servers_and_two_workers(servers: dict[str, tf.train.Server]) -> None:
    random = np.random.default_rng(3)
    with tf.device("/job:ps/task:0"):
        weights_1, biases_1 = tf.Variable(tf.ones([3, 5]), name="w1"), tf.Variable(tf.zeros([5]), name="b1")
    with tf.device("/job:ps/task:1"):
        weights_2, biases_2 = tf.Variable(tf.ones([5, 2]), name="w2"), tf.Variable(tf.zeros([2]), name="b2")
    data, labels = random.standard_normal((7, 3)).astype(np.float32), random.standard_normal((7, 2)).astype(np.float32)
    losses = []
    for worker in range(2):
        with tf.device(f"/job:worker/task:{worker}"):
            layer_1 = tf.nn.relu(tf.matmul(data, weights_1) + biases_1)
            logits = tf.matmul(layer_1, weights_2) + biases_2
            losses.append(tf.reduce_mean(tf.square(logits - labels)))
    with tf.device("/job:worker/task:0"):
        train = tf.train.GradientDescentOptimizer(0.01).minimize(losses[0] + losses[1])
    with tf.Session(servers["worker:2"].target) as sess:
        sess.run(tf.global_variables_initializer())
        first = sess.run(losses)
        for _ in range(5):
            sess.run(train)
        assert first[0] == first[1] > sess.run(losses[0])


def test_n_a_job_that_the_cluster_does_not_have() -> None:
    cluster = tf.train.ClusterSpec({"worker": [f"localhost:{free_ports(1)[0]}"]})
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="local"):
        tf.train.Server(cluster, job_name="local", task_index=0)


BG_DIST = """
import tensorflow as tf
import numpy as np

tf.app.flags.DEFINE_string("job_name", "", "ps or worker")
tf.app.flags.DEFINE_integer("task_index", 0, "the task of the job")
FLAGS = tf.app.flags.FLAGS


def main(_):
    cluster = tf.train.ClusterSpec({"ps": ["localhost:PS"], "worker": ["localhost:WORKER"]})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    elif FLAGS.job_name == "worker":
        train_X = np.linspace(-1.0, 1.0, 100)
        train_Y = 2.0 * train_X + np.random.randn(*train_X.shape) * 0.33 + 10.0
        X = tf.placeholder("float")
        Y = tf.placeholder("float")
        with tf.device(tf.train.replica_device_setter(
                worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
            w = tf.Variable(0.0, name="weight")
            b = tf.Variable(0.0, name="bias")
            loss = tf.square(Y - tf.multiply(X, w) - b)
            global_step = tf.Variable(0)
            train_op = tf.train.AdagradOptimizer(0.01).minimize(loss, global_step=global_step)
            saver = tf.train.Saver()
            summary_op = tf.summary.merge_all()
            init_op = tf.global_variables_initializer()
        sv = tf.train.Supervisor(is_chief=(FLAGS.task_index == 0), logdir="LOGS", init_op=init_op, summary_op=summary_op,
                                 saver=saver, global_step=global_step, save_model_secs=600)
        with sv.managed_session(server.target) as sess:
            loss_value = 100
            while not sv.should_stop() and loss_value > 70.0:
                for (x, y) in zip(train_X, train_Y):
                    _, step = sess.run([train_op, global_step], feed_dict={X: x, Y: y})
                loss_value = sess.run(loss, feed_dict={X: x, Y: y})
                print("step: {}, loss: {}".format(step, loss_value))
        sv.stop()


if __name__ == "__main__":
    tf.app.run()
"""


def test_i_between_graph_regression_as_processes(tmp_path: Path) -> None:
    ps, worker = free_ports(2)
    text = BG_DIST.replace("PS", str(ps)).replace("WORKER", str(worker)).replace("LOGS", str(tmp_path / "logs"))
    (tmp_path / "bg_dist.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tfexp.script", str(tmp_path / "bg_dist.py"), "--task_index=0"]
    with subprocess.Popen([*command, "--job_name=ps"], env=environment) as server:
        try:
            done = subprocess.run(
                [*command, "--job_name=worker"], env=environment, capture_output=True, text=True, check=False, timeout=120
            )
        finally:
            server.kill()
    assert done.returncode == 0, done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("step: ") and float(last.rpartition(" ")[2]) <= 70.0
    assert tf.train.latest_checkpoint(str(tmp_path / "logs")) is not None
