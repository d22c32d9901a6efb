"""Data parallelism in one graph: replicas' gradients averaged for one update, or each applied as it comes.

Section 3.4. Three workers have a third of the rows each; a parameter server has the variables. Between graphs, with one
process for each worker: experiments/parameter_server, and `python -m tfexp model=linreg cluster=2workers`.

Prints:

    synchronous: slopes [ 2. -1.], offset 0.50
    asynchronous: slopes [ 2. -1.], offset 0.50
"""

import threading

import numpy as np
from local_cluster import cluster

import tfexp as tf

random = np.random.RandomState(5)
data = random.randn(60, 2).astype(np.float32)
target = data @ np.array([[2.0], [-1.0]], np.float32) + 0.5


def replicas() -> tuple[list[tf.Variable], list[tf.Tensor]]:
    with tf.device("/job:ps"):
        variables = [tf.Variable(tf.zeros([2, 1]), name="slopes"), tf.Variable(0.0, name="offset")]
    losses = []
    for task in range(3):
        with tf.device(f"/job:worker/task:{task}"):
            own = slice(20 * task, 20 * task + 20)
            error = tf.matmul(data[own], variables[0]) + variables[1] - target[own]
            losses.append(tf.reduce_mean(tf.square(error)))
    return variables, losses


def show(how: str, sess: tf.Session, variables: list[tf.Variable]) -> None:
    slopes, offset = sess.run(variables)
    print(f"{how}: slopes {slopes.ravel().round(2)}, offset {offset:.2f}")


with cluster(ps=1, worker=3) as targets:
    variables, losses = replicas()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    gradients = [optimizer.compute_gradients(loss, variables) for loss in losses]
    means = [tf.add_n([gradient for gradient, _ in pairs]) / 3 for pairs in zip(*gradients)]
    train = optimizer.apply_gradients(zip(means, variables))
    with tf.Session(targets["worker/0"]) as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(100):
            sess.run(train)
        show("synchronous", sess, variables)

    tf.reset_default_graph()
    tf.Session.reset(targets["worker/0"])
    variables, losses = replicas()
    steps = [tf.train.GradientDescentOptimizer(0.05).minimize(loss, var_list=variables) for loss in losses]
    with tf.Session(targets["worker/0"]) as sess:
        sess.run(tf.global_variables_initializer())

        def train_alone(step: tf.Operation) -> None:
            for _ in range(100):
                sess.run(step)

        threads = [threading.Thread(target=train_alone, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        show("asynchronous", sess, variables)
