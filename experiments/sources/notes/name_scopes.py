"""Name scopes and variable scopes: which of them names ops, which names variables.

2017/4/14, note 3.

Prints:

    'hello/' arr1:0 ''
    hello hello/arr1:0 hello/
    hello/xixi hello/xixi/
    var1/w:0 name1/var1/Add:0
    scope1/scope2/
    hidden/alpha:0
    hidden/weights:0
    hidden/biases:0
    scope/w:0 scope_1/w:0
"""

import tfexp as tf

with tf.name_scope("hello") as name_scope:
    array = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
    print(repr(name_scope), array.name, repr(tf.get_variable_scope().original_name_scope))

tf.reset_default_graph()
with tf.variable_scope("hello") as variable_scope:
    array = tf.get_variable("arr1", shape=[2, 10], dtype=tf.float32)
    print(variable_scope.name, array.name, tf.get_variable_scope().original_name_scope)
    with tf.variable_scope("xixi") as inner:
        print(inner.name, tf.get_variable_scope().original_name_scope)

with tf.name_scope("name1"), tf.variable_scope("var1"):
    w = tf.get_variable("w", shape=[2])
    print(w.name, tf.add(w, [3]).name)

with tf.name_scope("scope1"), tf.name_scope("scope2") as scope2:
    print(scope2)

with tf.name_scope("hidden"):
    print(tf.constant(5, name="alpha").name)
    print(tf.Variable(tf.random_uniform([1, 2], -1.0, 1.0), name="weights").name)
    print(tf.Variable(tf.zeros([1]), name="biases").name)


def with_a_default_name() -> str:
    with tf.variable_scope(None, default_name="scope"):
        return str(tf.get_variable("w", shape=[2, 10]).name)


print(with_a_default_name(), with_a_default_name())
