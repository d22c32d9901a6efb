"""Control dependencies: x and y wait for a and b, without taking anything from them.

Section 1.5.

Prints:

    x waits for a b
    y waits for a b
    7.0
"""

import tfexp as tf

a = tf.constant(1.0, name="a")
b = tf.add(a, 2.0, name="b")
with tf.control_dependencies([a, b]):
    x = tf.constant(3.0, name="x")
    y = tf.constant(4.0, name="y")
z = x + y
print("x waits for", *(op.name for op in x.op.control_inputs))
print("y waits for", *(op.name for op in y.op.control_inputs))
with tf.Session() as sess:
    print(sess.run(z))
