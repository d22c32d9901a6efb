"""Constants, ops and a session that runs them.

The first example: 1 + 2 + 2 * 3.

Prints:

    9
"""

import tfexp as tf

a, b, c = tf.constant(1), tf.constant(2), tf.constant(3)
output = tf.add(tf.add(a, b), tf.multiply(b, c))
with tf.Session() as sess:
    print(sess.run(output))
