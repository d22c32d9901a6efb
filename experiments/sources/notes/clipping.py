"""Gradients computed, changed, applied: `minimize` in its two steps, with the gradients' norm limited.

2017/4/13, note 5.

Prints:

    norm:    500.0
    clipped: [3.0000002 4.0000005]
    capped:  [1. 1.]
    updated: [2.7 3.6]
"""

import tfexp as tf

w = tf.Variable([3.0, 4.0])
loss = 50.0 * tf.reduce_sum(tf.square(w))
optimizer = tf.train.GradientDescentOptimizer(0.1)

params = tf.trainable_variables()
gradients = tf.gradients(loss, params)
clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
train = optimizer.apply_gradients(zip(clipped, params))
capped = [(tf.clip_by_value(gradient, -1.0, 1.0), variable) for gradient, variable in optimizer.compute_gradients(loss)]
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    print("norm:   ", sess.run(norm))
    print("clipped:", sess.run(clipped[0]))
    print("capped: ", sess.run(capped[0][0]))
    sess.run(train)
    print("updated:", sess.run(w))
