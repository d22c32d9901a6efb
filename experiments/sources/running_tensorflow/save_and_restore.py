"""A Saver keeps variables in files, under their own names or others, and brings them back into another session.

"Saving and restoring models". Files go to `model`.

Prints:

    saved as model/my_model_final.ckpt
    restored to the bit: True
    under another name: [('weights', [4, 1])]
"""

import os

import numpy as np

import tfexp as tf

theta = tf.Variable(tf.random_uniform([4, 1], -1.0, 1.0, seed=42), name="theta")
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(theta - 1.0)))
init = tf.global_variables_initializer()
saver = tf.train.Saver()
os.makedirs("model", exist_ok=True)

with tf.Session() as sess:
    sess.run(init)
    for epoch in range(300):
        if epoch % 100 == 0:
            saver.save(sess, "model/my_model.ckpt")
        sess.run(train)
    best_theta = theta.eval()
    print("saved as", saver.save(sess, "model/my_model_final.ckpt"))

with tf.Session() as sess:
    saver.restore(sess, "model/my_model_final.ckpt")
    print("restored to the bit:", np.array_equal(theta.eval(), best_theta))
    path = tf.train.Saver({"weights": theta}).save(sess, "model/weights.ckpt")
print("under another name:", tf.train.list_variables(path))
