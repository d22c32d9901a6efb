"""A function builds each unit, in a name scope of its own; copying the lines instead makes mistakes.

"Modularity". In the first version the second unit has the first one's input, as happens with copied lines.

Prints:

    copied: z1 z1
    built:  relu/relu relu_1/relu relu_2/relu relu_3/relu relu_4/relu
    the output is their sum: True (2, 1)
"""

import numpy as np

import tfexp as tf

X = tf.placeholder(tf.float32, shape=(None, 3), name="X")
w1 = tf.Variable(tf.random_normal((3, 1)), name="weights1")
w2 = tf.Variable(tf.random_normal((3, 1)), name="weights2")
z1, z2 = tf.matmul(X, w1, name="z1"), tf.matmul(X, w2, name="z2")
relu1 = tf.maximum(z1, 0.0, name="relu1")
relu2 = tf.maximum(z1, 0.0, name="relu2")  # meant was z2
print("copied:", relu1.op.inputs[0].op.name, relu2.op.inputs[0].op.name)

tf.reset_default_graph()


def relu(X: tf.Tensor) -> tf.Tensor:
    with tf.name_scope("relu"):
        w = tf.Variable(tf.random_normal((int(X.get_shape()[1]), 1)), name="weights")
        b = tf.Variable(0.0, name="bias")
        z = tf.add(tf.matmul(X, w), b, name="z")
        return tf.maximum(z, 0.0, name="relu")


X = tf.placeholder(tf.float32, shape=(None, 3), name="X")
relus = [relu(X) for _ in range(5)]
output = tf.add_n(relus, name="output")
print("built: ", *(unit.op.name for unit in relus))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    result, units = sess.run([output, relus], {X: [[1, 2, 3], [4, 5, 6]]})
print("the output is their sum:", np.allclose(result, sum(units)), result.shape)
