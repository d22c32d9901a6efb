"""A time limit for one run, and one for every run of a session.

Section 3.2 and In [16].

Prints:

    2.0
    6.0 (fed: nothing was taken)
    3.0
    4.0
    timed out while dequeuing
    this run timed out
"""

import tfexp as tf

q = tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[()])
v = tf.placeholder(tf.float32)
enqueue, dequeue = q.enqueue([v]), q.dequeue()
output = dequeue + 1

config = tf.ConfigProto(operation_timeout_in_ms=100)
with tf.Session(config=config) as sess:
    for value in (1.0, 2.0, 3.0):
        sess.run(enqueue, {v: value})
    print(sess.run(output))
    print(sess.run(output, {dequeue: 5}), "(fed: nothing was taken)")
    print(sess.run(output))
    print(sess.run(output))
    try:
        sess.run(output)
    except tf.errors.DeadlineExceededError:
        print("timed out while dequeuing")
with tf.Session() as sess:
    try:
        sess.run(output, options=tf.RunOptions(timeout_in_ms=100))
    except tf.errors.DeadlineExceededError:
        print("this run timed out")
