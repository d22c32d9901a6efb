"""Variable scopes keep equal names apart, also inside one another; with `reuse` they share the variables.

Sections 4.3.4 and 4.3.5, codes 4-10 and 4-11.

Prints:

    side by side: test1/firstvar:0 test2/firstvar:0
    nested:       test1/firstvar:0 test1/test2/firstvar:0
    reused:       test1/firstvar:0 test1/test2/firstvar:0
    the same variables: True True
"""

import tfexp as tf


def get() -> tf.Variable:
    return tf.get_variable("firstvar", shape=[2], dtype=tf.float32)


with tf.variable_scope("test1"):
    var1 = get()
with tf.variable_scope("test2"):
    var2 = get()
print("side by side:", var1.name, var2.name)

tf.reset_default_graph()
with tf.variable_scope("test1"):
    var1 = get()
    with tf.variable_scope("test2"):
        var2 = get()
print("nested:      ", var1.name, var2.name)

with tf.variable_scope("test1", reuse=True):
    var3 = get()
    with tf.variable_scope("test2"):
        var4 = get()
print("reused:      ", var3.name, var4.name)
print("the same variables:", var3 is var1, var4 is var2)
