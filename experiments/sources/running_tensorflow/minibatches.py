"""Placeholders take what is fed, of any number of rows; so training can go batch by batch, with the loss in TensorBoard.

"Feeding data to the training algorithm", "Visualizing" and "Name scopes". Events go to `tf_logs`.

Prints:

    [[6. 7. 8.]]
    [[ 9. 10. 11.]
     [12. 13. 14.]]
    loss/sub loss/mse
    best theta: [ 0.5   2.   -1.    0.25]
    event files: 1
"""

import glob

import numpy as np

import tfexp as tf

A = tf.placeholder(tf.float32, shape=(None, 3))
B = A + 5
with tf.Session():
    print(B.eval(feed_dict={A: [[1, 2, 3]]}))
    print(B.eval(feed_dict={A: [[4, 5, 6], [7, 8, 9]]}))

random = np.random.RandomState(1)
rows, columns, batch_size = 1000, 3, 100
data = np.c_[np.ones((rows, 1)), random.randn(rows, columns)]
target = data @ [[0.5], [2.0], [-1.0], [0.25]] + 0.1 * random.randn(rows, 1)
batches = rows // batch_size


def fetch_batch(epoch: int, batch: int) -> tuple[np.ndarray, np.ndarray]:
    chosen = np.random.RandomState(epoch * batches + batch).randint(rows, size=batch_size)
    return data[chosen], target[chosen]


X = tf.placeholder(tf.float32, shape=(None, columns + 1), name="X")
y = tf.placeholder(tf.float32, shape=(None, 1), name="y")
theta = tf.Variable(tf.random_uniform([columns + 1, 1], -1.0, 1.0, seed=42), name="theta")
predictions = tf.matmul(X, theta, name="predictions")
with tf.name_scope("loss"):
    error = predictions - y
    mse = tf.reduce_mean(tf.square(error), name="mse")
train = tf.train.GradientDescentOptimizer(0.02).minimize(mse)
mse_summary = tf.summary.scalar("MSE", mse)
print(error.op.name, mse.op.name)

with tf.Session() as sess, tf.summary.FileWriter("tf_logs", tf.get_default_graph()) as writer:
    sess.run(tf.global_variables_initializer())
    for epoch in range(20):
        for batch in range(batches):
            X_batch, y_batch = fetch_batch(epoch, batch)
            if batch % 10 == 0:
                writer.add_summary(mse_summary.eval({X: X_batch, y: y_batch}), epoch * batches + batch)
            sess.run(train, {X: X_batch, y: y_batch})
    print("best theta:", theta.eval().ravel().round(2))
print("event files:", len(glob.glob("tf_logs/events.out.tfevents.*")))
