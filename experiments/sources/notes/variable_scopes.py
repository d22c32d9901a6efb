"""A variable's name has the scopes in which `get_variable` is called, wherever the function was written.

2017/4/14, note 1.

Prints:

    tet1/var3:0
    tet1/tet2/var4:0
    called inside:  te2/te1/var1:0
    called outside: te1/var1:0
    by name:   scope/w:0
    by name:   scope/scope/w:0
    by object: Variable scope/w already exists
"""

import tfexp as tf


def get(name: str) -> tf.Variable:
    return tf.get_variable(name, shape=[2], dtype=tf.float32)


with tf.variable_scope("tet1"):
    print(get("var3").name)
    with tf.variable_scope("tet2"):
        print(get("var4").name)


def inner() -> tf.Variable:
    with tf.variable_scope("te1"):
        return get("var1")


with tf.variable_scope("te2"):
    print("called inside: ", inner().name)
print("called outside:", inner().name)

with tf.variable_scope("scope"):
    print("by name:  ", get("w").name)
    with tf.variable_scope("scope"):
        print("by name:  ", get("w").name)
    with tf.variable_scope(tf.get_variable_scope()):
        try:
            get("w")
        except ValueError as error:
            print("by object:", str(error).partition(",")[0])
