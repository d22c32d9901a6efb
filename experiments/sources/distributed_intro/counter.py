"""A variable keeps its value from run to run.

The third example.

Prints:

    0
    1
    2
    3
"""

import tfexp as tf

state = tf.Variable(0, name="counter")
update = tf.assign(state, tf.add(state, tf.constant(1)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print(sess.run(state))
    for _ in range(3):
        sess.run(update)
        print(sess.run(state))
