"""Labels as rows with a single one, put there by `sparse_to_dense`.

2017/4/17, note 16.

Prints:

    [[0, 0], [1, 2], [2, 3], [3, 6], [4, 7], [5, 9]]
    [[1 0 0 0 0 0 0 0 0 0]
     [0 0 1 0 0 0 0 0 0 0]
     [0 0 0 1 0 0 0 0 0 0]
     [0 0 0 0 0 0 1 0 0 0]
     [0 0 0 0 0 0 0 1 0 0]
     [0 0 0 0 0 0 0 0 0 1]]
"""

import tfexp as tf

labels = tf.expand_dims(tf.constant([0, 2, 3, 6, 7, 9]), 1)
index = tf.expand_dims(tf.range(0, 6), 1)
places = tf.concat([index, labels], 1)
one_hot = tf.sparse_to_dense(places, tf.stack([6, 10]), 1.0, 0.0)
with tf.Session() as sess:
    print(sess.run(places).tolist())
    print(sess.run(one_hot).astype(int))
