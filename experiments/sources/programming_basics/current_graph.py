"""Inside a graph's block the default graph is that one; a reset is refused there, and while an InteractiveSession is open.

Sections 4.4.1 (its note) and 4.4.6 (the exercise).

Prints:

    refused inside a graph's block
    the block's own graph: True True True
    after it, the one from before: True
    refused while an InteractiveSession is open
    then another one: True
"""

import tfexp as tf

outside = tf.get_default_graph()
g = tf.Graph()
with tf.Graph().as_default():
    inside = tf.get_default_graph()
    c1 = tf.constant(0.0)
    try:
        tf.reset_default_graph()
    except AssertionError:
        print("refused inside a graph's block")
print("the block's own graph:", c1.graph is inside, inside is not g, inside is not outside)
print("after it, the one from before:", tf.get_default_graph() is outside)

session = tf.InteractiveSession(graph=outside)
try:
    tf.reset_default_graph()
except AssertionError:
    print("refused while an InteractiveSession is open")
session.close()
tf.reset_default_graph()
print("then another one:", tf.get_default_graph() is not outside)
