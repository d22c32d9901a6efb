"""Summaries are ops: scalars, histograms and images go to the event file when the writer is given them.

2017/4/14, notes 16 to 30. The files are in `summaries`, for `tensorboard --logdir summaries`.

Prints:

    0 loss summary_gradients/name pixels/image/0 pixels/image/1 tone/audio/0
    1 loss summary_gradients/name pixels/image/0 pixels/image/1 tone/audio/0
    2 loss summary_gradients/name pixels/image/0 pixels/image/1 tone/audio/0
"""

import glob

import numpy as np

import tfexp as tf

x = tf.placeholder(tf.float32, [None])
loss = tf.reduce_mean(tf.square(x))
tf.summary.scalar("loss", loss)
with tf.name_scope("summary_gradients"):
    tf.summary.histogram("name", x)
tf.summary.image("pixels", tf.reshape(x, [-1, 4, 4, 1]), max_outputs=2)
tf.summary.audio("tone", tf.reshape(x, [1, -1]), sample_rate=8000)
merged = tf.summary.merge_all()

with tf.Session() as sess:
    writer = tf.summary.FileWriter("summaries", sess.graph)
    for step in range(3):
        writer.add_summary(sess.run(merged, {x: np.linspace(-1, 1, 32) / (step + 1)}), step)
    writer.close()

for event in tf.train.summary_iterator(glob.glob("summaries/events.*")[0]):
    if event.summary.value:
        print(event.step, *(value.tag for value in event.summary.value))
