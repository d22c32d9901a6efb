"""Queues: first in first out, of tuples, closed, shuffling, padding.

Section 2.6. Where the source says "blocked waiting", a time limit ends the wait.

Prints:

    a batch of two: [[1.0, 2.0], [3.0, 4.0]]
    blocked: one is left, two are wanted
    a pair: 10 [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    two pairs: [11, 12] [[[2.0, 4.0], [6.0, 8.0], [0.0, 2.0]], [[3.0, 6.0], [9.0, 2.0], [5.0, 8.0]]]
    closed: nothing goes in,
    what is there comes out: [1. 2.]
    two there are not any more,
    but up to two: [3.]
    shuffled, ten different ones: 10 left: 12
    blocked: 12 - 5 < 10
    [[[1. 2. 0. 0.]
      [3. 4. 0. 0.]
      [5. 6. 0. 0.]]

     [[1. 0. 0. 0.]
      [0. 0. 0. 0.]
      [0. 0. 0. 0.]]

     [[7. 8. 9. 5.]
      [6. 7. 8. 9.]
      [0. 0. 0. 0.]]]
"""

import numpy as np

import tfexp as tf

soon = tf.RunOptions(timeout_in_ms=50)
q = tf.FIFOQueue(capacity=10, dtypes=[tf.float32], shapes=[[2]], name="q", shared_name="shared_q")
instance = tf.placeholder(tf.float32, shape=(2,))
instances = tf.placeholder(tf.float32, shape=(None, 2))
enqueue, enqueue_many, two = q.enqueue([instance]), q.enqueue_many([instances]), q.dequeue_many(2)
with tf.Session() as sess:
    sess.run(enqueue, {instance: [1.0, 2.0]})
    sess.run(enqueue_many, {instances: [[3.0, 4.0], [5.0, 6.0]]})
    print("a batch of two:", sess.run(two).tolist())
    try:
        sess.run(two, options=soon)
    except tf.errors.DeadlineExceededError:
        print("blocked: one is left, two are wanted")

q = tf.FIFOQueue(capacity=10, dtypes=[tf.int32, tf.float32], shapes=[[], [3, 2]], name="pairs", shared_name="shared_pairs")
number, matrix = tf.placeholder(tf.int32, shape=()), tf.placeholder(tf.float32, shape=(3, 2))
enqueue = q.enqueue((number, matrix))
dequeue_number, dequeue_matrix = q.dequeue()
numbers, matrices = q.dequeue_many(2)
with tf.Session() as sess:
    sess.run(enqueue, {number: 10, matrix: [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    sess.run(enqueue, {number: 11, matrix: [[2.0, 4.0], [6.0, 8.0], [0.0, 2.0]]})
    sess.run(enqueue, {number: 12, matrix: [[3.0, 6.0], [9.0, 2.0], [5.0, 8.0]]})
    first, of_first = sess.run([dequeue_number, dequeue_matrix])
    print("a pair:", first, of_first.tolist())
    print("two pairs:", *(found.tolist() for found in sess.run([numbers, matrices])))

q = tf.FIFOQueue(10, [tf.float32], [[]], name="closing")
fill, close = q.enqueue_many([[1.0, 2.0, 3.0]]), q.close()
two, up_to_two = q.dequeue_many(2), q.dequeue_up_to(2)
with tf.Session() as sess:
    sess.run(fill)
    sess.run(close)
    try:
        sess.run(fill)
    except tf.errors.CancelledError:
        print("closed: nothing goes in,")
    print("what is there comes out:", sess.run(two))
    try:
        sess.run(two)
    except tf.errors.OutOfRangeError:
        print("two there are not any more,")
    print("but up to two:", sess.run(up_to_two))

q = tf.RandomShuffleQueue(50, min_after_dequeue=10, dtypes=[tf.float32], shapes=[()], name="shuffling")
fill, five = q.enqueue_many([np.arange(1.0, 23.0, dtype=np.float32)]), q.dequeue_many(5)
with tf.Session() as sess:
    sess.run(fill)
    found = np.concatenate([sess.run(five), sess.run(five)])
    print("shuffled, ten different ones:", len(set(found)), "left:", sess.run(q.size()))
    try:
        sess.run(five, options=soon)
    except tf.errors.DeadlineExceededError:
        print("blocked: 12 - 5 < 10")

q = tf.PaddingFIFOQueue(50, dtypes=[tf.float32], shapes=[(None, None)], name="padding")
matrix = tf.placeholder(tf.float32, shape=(None, None))
enqueue, three = q.enqueue([matrix]), q.dequeue_many(3)
with tf.Session() as sess:
    for value in ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0]], [[7.0, 8.0, 9.0, 5.0], [6.0, 7.0, 8.0, 9.0]]):
        sess.run(enqueue, {matrix: value})
    print(sess.run(three))
