"""Nodes go into the default graph; a block makes another graph the default for a while.

"Managing graphs".

Prints:

    x1 is in the default graph: True
    x2 is in the other graph: True
    x2 is in the default graph: False
    operations after a reset: 0
"""

import tfexp as tf

x1 = tf.Variable(1)
print("x1 is in the default graph:", x1.graph is tf.get_default_graph())

graph = tf.Graph()
with graph.as_default():
    x2 = tf.Variable(2)
print("x2 is in the other graph:", x2.graph is graph)
print("x2 is in the default graph:", x2.graph is tf.get_default_graph())

tf.reset_default_graph()
print("operations after a reset:", len(tf.get_default_graph().get_operations()))
