"""`tf.cond` and `tf.case` choose while the graph runs; group and tuple run several at once.

2017/4/17, notes 12, 13 and 14.

Prints:

    1.0 5.0 7.0 less
    5.0 5.0 25.0 same
    9.0 5.0 25.0 more
    group: None
    tuple: 2 3
"""

import tfexp as tf

x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
z = tf.multiply(2.0, 3.0)
chosen = tf.cond(x < y, lambda: tf.add(x, z), lambda: tf.square(y))
case = tf.case([(x < y, lambda: tf.constant("less")), (x > y, lambda: tf.constant("more"))], lambda: tf.constant("same"))
with tf.Session() as sess:
    for values in ((1.0, 5.0), (5.0, 5.0), (9.0, 5.0)):
        number, word = sess.run([chosen, case], dict(zip((x, y), values)))
        print(*values, number, word.decode())

w = tf.Variable(1)
doubled, more = tf.multiply(w, 2), tf.add(w, 2)
with tf.Session() as sess:
    tf.global_variables_initializer().run()
    print("group:", sess.run(tf.group(doubled, more)))
    print("tuple:", *sess.run(tf.tuple([doubled, more])))
