"""A scope that is entered by its object lies where it was made; name scopes name ops, but not variables.

Section 4.3.7, code 4-13 with its continuations.

Prints:

    scope1/v:0 in scope1
    scope2/v:0
    scope1/v3:0 in scope1
    scope1//v4:0 has an empty level
    variable: scope/v:0
    op:       scope/bar/add
    at the top again: add
"""

import tfexp as tf

with tf.variable_scope("scope1") as sp:
    print(tf.get_variable("v", [1]).name, "in", sp.name)
with tf.variable_scope("scope2"):
    print(tf.get_variable("v", [1]).name)
    with tf.variable_scope(sp) as sp1:
        print(tf.get_variable("v3", [1]).name, "in", sp1.name)
        with tf.variable_scope(""):
            print(tf.get_variable("v4", [1]).name, "has an empty level")

with tf.variable_scope("scope"), tf.name_scope("bar"):
    v = tf.get_variable("v", [1])
    x = 1.0 + v
    with tf.name_scope(""):
        y = 1.0 + v
print("variable:", v.name)
print("op:      ", x.op.name)
print("at the top again:", y.op.name)
