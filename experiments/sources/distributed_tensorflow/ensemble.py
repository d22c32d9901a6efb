"""An ensemble in one graph: each network on a task of its own, and the mean of what they say.

Sections 3.1 and 3.2, in-graph replication; between graphs, a queue for each network takes the predictions to who adds them
up, and one that is late is left out.

Prints:

    in one graph: [3. 7.]
    network 2 is late
    between graphs: [2.5 5.5]
"""

import numpy as np
from local_cluster import cluster

import tfexp as tf

with cluster(worker=3) as targets:
    features = tf.placeholder(tf.float32, [None, 2])
    predictions = []
    for task in range(3):
        with tf.device(f"/job:worker/task:{task}"):
            slope = tf.Variable([[float(task)], [1.0]], name=f"slope_{task}")
            predictions.append(tf.matmul(features, slope))
    mean = tf.add_n(predictions) / 3
    with tf.Session(targets["worker/0"]) as sess:
        sess.run(tf.global_variables_initializer())
        print("in one graph:", sess.run(mean, {features: [[1.0, 2.0], [3.0, 4.0]]}).ravel())

    tf.reset_default_graph()
    features = tf.placeholder(tf.float32, [None, 2])
    queues, puts = [], []
    for task in range(3):
        with tf.device(f"/job:worker/task:{task}"):
            queue = tf.FIFOQueue(4, [tf.float32], shared_name=f"predictions_{task}")
            slope = tf.constant([[float(task)], [1.0]])
            queues.append(queue)
            puts.append(queue.enqueue([tf.matmul(features, slope)]))
    takes = [queue.dequeue() for queue in queues]
    for task in (0, 1):  # the third is late
        with tf.Session(targets[f"worker/{task}"]) as sess:
            sess.run(puts[task], {features: [[1.0, 2.0], [3.0, 4.0]]})
    found = []
    with tf.Session(targets["worker/0"]) as sess:
        for task, take in enumerate(takes):
            try:
                found.append(sess.run(take, options=tf.RunOptions(timeout_in_ms=200)))
            except tf.errors.DeadlineExceededError:
                print(f"network {task} is late")
    print("between graphs:", np.mean(found, axis=0).ravel())
