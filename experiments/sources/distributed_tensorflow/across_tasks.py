"""Ops pinned to tasks of a cluster, and variables dealt out to the parameter servers in turn.

Sections 2.1 to 2.4 and In [5] to [9]: two parameter servers and three workers, in this process.

Prints:

    any server runs a graph: 3.0
    across tasks: 4.0
    v1 /job:ps/task:0
    v2 /job:ps/task:1
    v3 /job:ps/task:0
    v4 /job:ps/task:1
    v5 /job:ps/task:0
    s  /job:worker
    p1 /job:worker/task:1
    p2 /job:worker/task:1/device:CPU:0
    values: 3.0 6.0 9.0
"""

from local_cluster import cluster

import tfexp as tf

with cluster(ps=2, worker=3) as targets:
    a = tf.constant(1.0)
    c = a * 3
    with tf.Session(targets["worker/1"]):
        print("any server runs a graph:", c.eval())

    tf.reset_default_graph()
    with tf.device("/job:ps"):
        a = tf.Variable(1.0, name="a")
    with tf.device("/job:worker"):
        b = a + 2
    with tf.device("/job:worker/task:1"):
        c = a + b
    with tf.Session(targets["ps/0"]) as sess:
        sess.run(a.initializer)
        print("across tasks:", c.eval())

    tf.reset_default_graph()
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device="/job:ps", worker_device="/job:worker")):
        variables = [tf.Variable(float(number), name=f"v{number}") for number in range(1, 6)]
        s = variables[0] + variables[1]
        with tf.device("/task:1"):
            p1 = 2 * s
            with tf.device("/cpu:0"):
                p2 = 3 * s
    for variable in variables:
        print(variable.op.name, variable.device)
    for name, tensor in {"s": s, "p1": p1, "p2": p2}.items():
        print(f"{name:2}", tensor.device)
    with tf.Session(targets["ps/0"]) as sess:
        sess.run([variable.initializer for variable in variables])
        print("values:", *sess.run([s, p1, p2]))
