"""Variables live in the cluster, not in sessions: every session sees them, in containers of their own if wanted.

Section 2.5: `simple_client.py` through two servers, then containers that are reset one by one.

Prints:

    first client: 1.0
    another client, through another server: 2.0
    kept: 2.0
    gone with its container: x_1
"""

from local_cluster import cluster

import tfexp as tf


def increment(target: str, initialize: bool) -> float:
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        x = tf.Variable(0.0, name="x")
        step = tf.assign(x, x + 1)
        with tf.Session(target) as sess:
            if initialize:
                sess.run(x.initializer)
            sess.run(step)
            return float(x.eval())


with cluster(ps=1, worker=2) as targets:
    print("first client:", increment(targets["worker/0"], initialize=True))
    print("another client, through another server:", increment(targets["worker/1"], initialize=False))

    with tf.device("/job:ps/task:0"):
        with tf.container("my_problem_1"):
            one = tf.Variable(1.0, name="x_1")
        with tf.container("my_problem_2"):
            two = tf.Variable(2.0, name="x_2")
    with tf.Session(targets["ps/0"]) as sess:
        sess.run([one.initializer, two.initializer])
    tf.Session.reset(targets["ps/0"], ["my_problem_1"])
    with tf.Session(targets["ps/0"]) as sess:
        print("kept:", sess.run(two))
        try:
            sess.run(one)
        except tf.errors.FailedPreconditionError:
            print("gone with its container: x_1")
