"""A graph's collections keep what is put into them, lists as they are.

2017/4/17, note 6.

Prints:

    one entry: True
    not a set: 3
"""

import tfexp as tf

a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
tf.add_to_collection("haha", [a, b])
print("one entry:", tf.get_collection("haha") == [[a, b]])
tf.add_to_collection("haha", a)
tf.add_to_collection("haha", a)
print("not a set:", len(tf.get_collection("haha")))
