"""A graph, and four ways to run it in a session.

"Creating a graph and running it in a session".

Prints:

    session.run:        42
    default session:    42
    one initializer:    42
    InteractiveSession: 42
"""

import tfexp as tf

x = tf.Variable(3, name="x")
y = tf.Variable(4, name="y")
f = x * x * y + y + 2

sess = tf.Session()
sess.run(x.initializer)
sess.run(y.initializer)
print("session.run:       ", sess.run(f))
sess.close()

with tf.Session():
    x.initializer.run()
    y.initializer.run()
    print("default session:   ", f.eval())

init = tf.global_variables_initializer()
with tf.Session():
    init.run()
    print("one initializer:   ", f.eval())

sess = tf.InteractiveSession()
init.run()
print("InteractiveSession:", f.eval())
sess.close()
