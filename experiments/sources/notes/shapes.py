"""Functions that rearrange tensors: reshape, concat, squeeze, split, expand_dims, slice, stack, gather, embedding_lookup.

2017/3/28 note 1 and 2017/4/1, 4/12 notes 3 to 9. Arguments are in TensorFlow 1's order (`concat(values, axis)`).

Prints:

    reshape(t, [-1, 9])          [[1, 1, 1, 2, 2, 2, 3, 3, 3], [4, 4, 4, 5, 5, 5, 6, 6, 6]]
    concat([t1, t2], 0)          [[1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]]
    concat([t1, t2], 1)          [[1, 2, 3, 7, 8, 9], [4, 5, 6, 10, 11, 12]]
    slice([1, 0], [1, 2])        [[4, 5]]
    slice([1, 0, 0], [1, 2, 3])  [[[12, 13, 14], [16, 17, 18]]]
    stack                        [[1, 4], [2, 5], [3, 6]]
    stack(axis=1)                [[1, 2, 3], [4, 5, 6]]
    gather([1, 5, 9])            [11, 51, 91]
    embedding_lookup             [[[4, 5, 6], [7, 8, 9]], [[1, 2, 3], [4, 5, 6]]]
    squeeze                      (2, 3)
    squeeze([2, 4])              (1, 2, 3, 1)
    split                        (5, 10)
    expand_dims(0)               (1, 2)
    expand_dims(1)               (2, 1)
    expand_dims(-1)              (2, 1)
    expand_dims(4d, 2)           (2, 3, 1, 5)
    expand_dims(4d, 3)           (2, 3, 5, 1)
"""

import numpy as np

import tfexp as tf

t = tf.constant([[[1, 1, 1], [2, 2, 2]], [[3, 3, 3], [4, 4, 4]], [[5, 5, 5], [6, 6, 6]]])
t1, t2 = [[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [10, 11, 12]]
ones = tf.ones([1, 2, 1, 3, 1, 1])
two = tf.constant([7, 8])
four = tf.ones([2, 3, 5])
numbers = tf.range(0, 10) * 10 + tf.constant(1, shape=[10])
values = {
    "reshape(t, [-1, 9])": tf.reshape(t, [-1, 9]),
    "concat([t1, t2], 0)": tf.concat([t1, t2], 0),
    "concat([t1, t2], 1)": tf.concat([t1, t2], 1),
    "slice([1, 0], [1, 2])": tf.slice([[1, 2, 3], [4, 5, 6]], [1, 0], [1, 2]),
    "slice([1, 0, 0], [1, 2, 3])": tf.slice(np.arange(24).reshape(2, 3, 4), [1, 0, 0], [1, 2, 3]),
    "stack": tf.stack([[1, 4], [2, 5], [3, 6]]),
    "stack(axis=1)": tf.stack([[1, 4], [2, 5], [3, 6]], axis=1),
    "gather([1, 5, 9])": tf.gather(numbers, [1, 5, 9]),
    "embedding_lookup": tf.nn.embedding_lookup(np.arange(1, 10).reshape(3, 3), [[1, 2], [0, 1]]),
}
shapes = {
    "squeeze": tf.squeeze(ones),
    "squeeze([2, 4])": tf.squeeze(ones, [2, 4]),
    "split": tf.split(tf.ones([5, 30]), 3, 1)[0],
    "expand_dims(0)": tf.expand_dims(two, 0),
    "expand_dims(1)": tf.expand_dims(two, 1),
    "expand_dims(-1)": tf.expand_dims(two, -1),
    "expand_dims(4d, 2)": tf.expand_dims(four, 2),
    "expand_dims(4d, 3)": tf.expand_dims(four, 3),
}
with tf.Session() as sess:
    for name, value in sess.run(values).items():
        print(f"{name:28}", value.tolist())
for name, tensor in shapes.items():
    print(f"{name:28}", tensor.get_shape())
