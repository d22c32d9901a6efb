"""The same filter for two images: `tf.Variable` makes a second set, `get_variable` shares one, asked for in two ways.

2017/4/14, note 2.

Prints:

    tf.Variable: conv1_weights conv1_biases conv1_weights_1 conv1_biases_1
    get_variable: Variable conv1_weights already exists
    shared: image_filters/conv1_weights image_filters/conv1_biases
    shared: image_filters1/conv1_weights image_filters1/conv1_biases
    of shape (1, 8, 8, 4) (1, 8, 8, 4)
"""

from collections.abc import Callable

import tfexp as tf


def image_filter(images: tf.Tensor, variable: Callable[[str, list[int]], tf.Variable]) -> tf.Tensor:
    weights, biases = variable("conv1_weights", [5, 5, 3, 4]), variable("conv1_biases", [4])
    return tf.nn.relu(tf.nn.conv2d(images, weights, strides=[1, 1, 1, 1], padding="SAME") + biases)


def own(name: str, shape: list[int]) -> tf.Variable:
    return tf.Variable(tf.random_normal(shape), name=name)


def shared(name: str, shape: list[int]) -> tf.Variable:
    return tf.get_variable(name, shape, initializer=tf.random_normal_initializer())


def names(scope: str = "") -> str:
    return " ".join(variable.op.name for variable in tf.global_variables(scope))


image1, image2 = tf.zeros([1, 8, 8, 3]), tf.ones([1, 8, 8, 3])
image_filter(image1, own)
image_filter(image2, own)
print("tf.Variable:", names())

tf.reset_default_graph()
image1, image2 = tf.zeros([1, 8, 8, 3]), tf.ones([1, 8, 8, 3])
image_filter(image1, shared)
try:
    image_filter(image2, shared)
except ValueError as error:
    print("get_variable:", str(error).partition(",")[0])

with tf.variable_scope("image_filters") as scope:
    image_filter(image1, shared)
    scope.reuse_variables()
    image_filter(image2, shared)
with tf.variable_scope("image_filters1") as scope1:
    result1 = image_filter(image1, shared)
with tf.variable_scope(scope1, reuse=True):
    result2 = image_filter(image2, shared)
print("shared:", names("image_filters/"))
print("shared:", names("image_filters1/"))
print("of shape", result1.get_shape(), result2.get_shape())
