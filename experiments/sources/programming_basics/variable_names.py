"""`tf.Variable` takes another name where one is taken; `tf.get_variable` refuses.

Section 4.3.3, code 4-9. The second round goes on in the graph of the first, as in a notebook.

Prints:

    named:   firstvar:0
    named:   firstvar_1:0
    unnamed: Variable:0
    unnamed: Variable_1:0
    the last ones hold 2.0 and 4.0

    again, in the same graph
    named:   firstvar_2:0
    named:   firstvar_3:0
    unnamed: Variable_2:0
    unnamed: Variable_3:0
    got:     firstvar_4:0
    refused: Variable firstvar already exists, disallowed. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?

    in a new graph, with two names
    named:   firstvar:0
    named:   firstvar_1:0
    unnamed: Variable:0
    unnamed: Variable_1:0
    got:     firstvar_2:0
    got:     firstvar1:0
    it holds [0.4]
"""

import tfexp as tf


def make_variables() -> tuple[tf.Variable, tf.Variable]:
    for value in (1.0, 2.0):
        named = tf.Variable(value, name="firstvar")
        print("named:  ", named.name)
    for value in (3.0, 4.0):
        unnamed = tf.Variable(value)
        print("unnamed:", unnamed.name)
    return named, unnamed


named, unnamed = make_variables()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("the last ones hold", named.eval(), "and", unnamed.eval())

print("\nagain, in the same graph")
make_variables()
print("got:    ", tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3)).name)
try:
    tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.4))
except ValueError as error:
    print("refused:", str(error).splitlines()[0].partition(" Originally")[0])

print("\nin a new graph, with two names")
tf.reset_default_graph()
make_variables()
print("got:    ", tf.get_variable("firstvar", [1], initializer=tf.constant_initializer(0.3)).name)
other = tf.get_variable("firstvar1", [1], initializer=tf.constant_initializer(0.4))
print("got:    ", other.name)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("it holds", other.eval())
