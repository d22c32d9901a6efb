"""Any value for a variable while the graph runs: an assignment that is fed.

The exercise "how do you set a variable to any value you want, during the execution phase?"

Prints:

    between 0 and 1: True
    now: 5.0
"""

import tfexp as tf

x = tf.Variable(tf.random_uniform(shape=(), minval=0.0, maxval=1.0))
new_value = tf.placeholder(shape=(), dtype=tf.float32)
assign = tf.assign(x, new_value)
with tf.Session():
    x.initializer.run()
    print("between 0 and 1:", 0 <= x.eval() < 1)
    assign.eval(feed_dict={new_value: 5.0})
    print("now:", x.eval())
