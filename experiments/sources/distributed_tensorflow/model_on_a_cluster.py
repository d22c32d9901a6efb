"""A model whose layers' variables are on two parameter servers, computed by two workers, trained through a third.

Section 3.3 (model parallelism), and "TensorFlow - related" 2017/4/14, notes 8 to 12.

Prints:

    both workers compute the same: True
    the loss falls to less than a tenth: True
"""

import numpy as np
from local_cluster import cluster

import tfexp as tf

random = np.random.RandomState(3)
data, labels = random.randn(7, 3).astype(np.float32), random.randn(7, 2).astype(np.float32)

with cluster(ps=2, worker=3) as targets:
    with tf.device("/job:ps/task:0"):
        weights_1, biases_1 = tf.Variable(tf.ones([3, 5])), tf.Variable(tf.zeros([5]))
    with tf.device("/job:ps/task:1"):
        weights_2, biases_2 = tf.Variable(tf.ones([5, 2])), tf.Variable(tf.zeros([2]))
    losses = []
    for worker in range(2):
        with tf.device(f"/job:worker/task:{worker}"):
            layer = tf.nn.relu(tf.matmul(data, weights_1) + biases_1)
            losses.append(tf.reduce_mean(tf.square(tf.matmul(layer, weights_2) + biases_2 - labels)))
    with tf.device("/job:worker/task:0"):
        train = tf.train.GradientDescentOptimizer(0.01).minimize(losses[0] + losses[1])
    with tf.Session(targets["worker/2"]) as sess:
        sess.run(tf.global_variables_initializer())
        before = sess.run(losses)
        print("both workers compute the same:", before[0] == before[1])
        for _ in range(20):
            sess.run(train)
        print("the loss falls to less than a tenth:", sess.run(losses[0]) < before[0] / 10)
