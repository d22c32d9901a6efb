"""A variable scope's initializer holds for all variables inside, in inner scopes too, that bring none of their own.

Section 4.3.6, code 4-12.

Prints:

    test1/firstvar        [0.4 0.4]
    test1/test2/firstvar  [0.4 0.4]
    test1/test2/test3     [0.3 0.3]
"""

import tfexp as tf

with tf.variable_scope("test1", initializer=tf.constant_initializer(0.4)):
    outer = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
    with tf.variable_scope("test2"):
        inherits = tf.get_variable("firstvar", shape=[2], dtype=tf.float32)
        has_its_own = tf.get_variable("test3", shape=[2], initializer=tf.constant_initializer(0.3))

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for variable in (outer, inherits, has_its_own):
        print(f"{variable.op.name:21}", variable.eval())
