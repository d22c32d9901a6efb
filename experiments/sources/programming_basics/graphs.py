"""Graphs: which one is the default, and finding tensors and operations in them by name.

Section 4.4 (4.4.1 to 4.4.5), code 4-14.

Prints:

    c1 is in g: True
    c is in the graph that was there before: True
    a reset makes another one: True
    Graph
    Const:0
    Tensor("Const:0", shape=(), dtype=float32)
    exampleop:0 Tensor("exampleop:0", shape=(1, 1), dtype=float32)
    found by name: True
    its operation: True
    exampleop MatMul ['Const', 'Const_1'] {'transpose_a': False, 'transpose_b': False}
    [[7.]]
    [<tf.Operation 'Const' type=Const>]
    Tensor("Const:0", shape=(), dtype=float32)
"""

import tfexp as tf

c = tf.constant(0.0)
g = tf.Graph()
with g.as_default():
    c1 = tf.constant(0.0)
first = tf.get_default_graph()
print("c1 is in g:", c1.graph is g)
print("c is in the graph that was there before:", c.graph is first)
tf.reset_default_graph()
g3 = tf.get_default_graph()
print("a reset makes another one:", g3 is not first)
print(type(g3).__name__)

print(c1.name)
print(g.get_tensor_by_name("Const:0"))

a = tf.constant([[1.0, 2.0]])
b = tf.constant([[1.0], [3.0]])
tensor1 = tf.matmul(a, b, name="exampleop")
print(tensor1.name, tensor1)
print("found by name:", g3.get_tensor_by_name("exampleop:0") is tensor1)
print("its operation:", g3.get_operation_by_name("exampleop") is tensor1.op)
node = g3.get_operation_by_name("exampleop").node_def
print(node.name, node.op, list(node.input), {key: node.attr[key].b for key in ("transpose_a", "transpose_b")})
with tf.Session() as sess:
    print(sess.run("exampleop:0"))

print(g.get_operations())
print(g.as_graph_element(c1))
