"""Several values fetched in one run; placeholders that are fed, and what is said of one that is not.

The fourth and the fifth example.

Prints:

    21.0 7.0
    [14.]
    not fed: InvalidArgumentError
"""

import tfexp as tf

intermediate = tf.add(tf.constant(2.0), tf.constant(5.0))
product = tf.multiply(tf.constant(3.0), intermediate)
with tf.Session() as sess:
    print(*sess.run([product, intermediate]))

input1, input2 = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
output = tf.multiply(input1, input2)
with tf.Session() as sess:
    print(sess.run(output, {input1: [7.0], input2: [2.0]}))
    try:
        sess.run(output)
    except tf.errors.InvalidArgumentError as error:
        print(f"not fed: {type(error).__name__}")
