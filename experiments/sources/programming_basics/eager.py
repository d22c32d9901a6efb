"""Eager execution: what is called is computed at once, without a graph and without a session.

Section 4.6. It is switched on for the whole process, before anything else.

Prints:

    [[11.]]
    13.0
    [0 1]
    [2 3]
    [4]
"""

import tfexp as tf

tf.enable_eager_execution()

product = tf.matmul([[1.0, 2.0]], [[3.0], [4.0]])
print(product.numpy())
variable = tf.Variable(2.0)
variable.assign_add(product[0, 0])
print(variable.numpy())
for batch in tf.data.Dataset.range(5).batch(2):
    print(batch.numpy())
