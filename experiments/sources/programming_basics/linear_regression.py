"""y = 2x + noise, learned sample by sample, with summaries for TensorBoard in `log`.

Section 4.5.3, step 1, before the program is distributed (then: experiments/parameter_server).

Prints:

    epoch  1  cost 1.148  W 0.399  b 0.501
    epoch  5  cost 0.093  W 1.922  b 0.060
    epoch  9  cost 0.093  W 2.028  b 0.020
    epoch 13  cost 0.093  W 2.035  b 0.017
    epoch 17  cost 0.093  W 2.035  b 0.017
    finished: W 2.035, b 0.017; at x=0.2 z is 0.424
    least squares: W 1.955, b 0.018
    event files: 1
"""

import glob

import numpy as np

import tfexp as tf

noise = np.random.RandomState(0)
train_x = np.linspace(-1, 1, 100)
train_y = 2 * train_x + noise.randn(100) * 0.3

x, y = tf.placeholder("float"), tf.placeholder("float")
w = tf.Variable(tf.random_normal([1], seed=1), name="weight")
b = tf.Variable(tf.zeros([1]), name="bias")
z = tf.multiply(x, w) + b
cost = tf.reduce_mean(tf.square(y - z))
tf.summary.histogram("z", z)
tf.summary.scalar("loss_function", cost)
optimizer = tf.train.GradientDescentOptimizer(0.01).minimize(cost)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    merged = tf.summary.merge_all()
    with tf.summary.FileWriter("log", sess.graph) as writer:
        for epoch in range(20):
            for sample in zip(train_x, train_y):
                sess.run(optimizer, {x: sample[0], y: sample[1]})
            writer.add_summary(sess.run(merged, {x: train_x, y: train_y}), epoch)
            if epoch % 4 == 0:
                loss = sess.run(cost, {x: train_x, y: train_y})
                print(f"epoch {epoch + 1:2}  cost {loss:.3f}  W {w.eval()[0]:.3f}  b {b.eval()[0]:.3f}")
    print(f"finished: W {w.eval()[0]:.3f}, b {b.eval()[0]:.3f}; at x=0.2 z is {sess.run(z, {x: 0.2})[0]:.3f}")
slope, offset = np.polyfit(train_x, train_y, 1)
print(f"least squares: W {slope:.3f}, b {offset:.3f}")
print("event files:", len(glob.glob("log/events.out.tfevents.*")))
