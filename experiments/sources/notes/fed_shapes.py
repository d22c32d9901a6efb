"""What is known of a shape before anything is fed, and what `tf.shape` knows then.

2017/4/13, note 7, and the placeholder of the beginning.

Prints:

    before: (?, 27, 27, 3) [None, 27, 27, 3]
    fed:    5
"""

import numpy as np

import tfexp as tf

images = tf.placeholder(tf.float32, shape=[None, 27, 27, 3])
rows = tf.shape(images)[0]
print("before:", images.get_shape(), images.get_shape().as_list())
with tf.Session() as sess:
    print("fed:   ", sess.run(rows, {images: np.zeros([5, 27, 27, 3])}))
