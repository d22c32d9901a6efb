"""A training set in a variable: it goes to the cluster once, is not trained, and is in no checkpoint.

Section 2.7.1. As the source has it TensorFlow refuses: a variable's shape is known, or does not matter.

Prints:

    initial_value must have a shape specified
    [[ 0.  1.  2.]
     [ 3.  4.  5.]
     [ 6.  7.  8.]
     [ 9. 10. 11.]
     [12. 13. 14.]]
    saved or trained: 0
"""

import numpy as np

import tfexp as tf

initial = tf.placeholder(tf.float32, shape=(None, 3))
try:
    tf.Variable(initial, trainable=False, collections=[], name="training_set")
except ValueError as error:
    print(str(error).partition(":")[0])
training_set = tf.Variable(initial, trainable=False, collections=[], validate_shape=False, name="training_set")
with tf.Session() as sess:
    sess.run(training_set.initializer, {initial: np.arange(15.0).reshape(5, 3)})
    print(sess.run(training_set))
print("saved or trained:", len(tf.global_variables()) + len(tf.trainable_variables()))
