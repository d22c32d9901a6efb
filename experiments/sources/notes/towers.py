"""Towers: a copy of the model for each device, their gradients averaged for one update.

2017/4/14 note 3 and 2017/4/17 note 10 (several GPUs). Here two devices of the CPU are the towers' places, and a collection
has what belongs to each.

Prints:

    variables: model/weights
    losses:    tower_0/model/Mean tower_1/model/Mean
    of one:    tower_1/model/Mean
    learned:   [ 1. -2.  3.]
"""

import numpy as np

import tfexp as tf

random = np.random.RandomState(2)
data = random.randn(40, 3).astype(np.float32)
target = (data @ np.array([[1.0], [-2.0], [3.0]], np.float32)).astype(np.float32)


def tower() -> list[tuple[tf.Tensor, tf.Variable]]:
    features, labels = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
    weights = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(features, weights) - labels))
    tf.add_to_collection("inputs", (features, labels))
    tf.add_to_collection("losses", loss)
    return list(zip(tf.gradients(loss, [weights]), [weights]))


def average_gradients(towers: list[list[tuple[tf.Tensor, tf.Variable]]]) -> list[tuple[tf.Tensor, tf.Variable]]:
    averaged = []
    for of_one_variable in zip(*towers):
        gradients = tf.concat([tf.expand_dims(gradient, 0) for gradient, _ in of_one_variable], 0)
        averaged.append((tf.reduce_mean(gradients, 0), of_one_variable[0][1]))
    return averaged


with tf.device("/cpu:0"):
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    towers = []
    for number in range(2):
        place, names = tf.device(f"/cpu:{number}"), tf.name_scope(f"tower_{number}")
        with place, names, tf.variable_scope("model", reuse=number > 0):
            towers.append(tower())
    train = optimizer.apply_gradients(average_gradients(towers))

print("variables:", *(variable.op.name for variable in tf.trainable_variables()))
print("losses:   ", *(loss.op.name for loss in tf.get_collection("losses")))
print("of one:   ", *(loss.op.name for loss in tf.get_collection("losses", "tower_1")))
feeds = {}
for number, (features, labels) in enumerate(tf.get_collection("inputs")):
    feeds |= {features: data[number::2], labels: target[number::2]}
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(200):
        sess.run(train, feeds)
    print("learned:  ", sess.run(tf.trainable_variables()[0]).ravel().round(2))
