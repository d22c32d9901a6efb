"""Activations, dropout, local response normalization and batch normalization: shapes stay, values change.

2017/4/12 note 12 and 2017/4/13, notes 6, 3 and 4.

Prints:

    relu       [0. 0. 0. 2. 7.]
    sigmoid    [0.047 0.269 0.5   0.881 0.999]
    tanh       [-0.995 -0.762  0.     0.964  1.   ]
    elu        [-0.95  -0.632  0.     2.     7.   ]
    bias_add   [-2.  0.  1.  3.  8.]
    crelu      [0. 0. 0. 2. 7. 3. 1. 0. 0. 0.]
    relu6      [0. 0. 0. 2. 6.]
    softplus   [0.049 0.313 0.693 2.127 7.001]
    softsign   [-0.75  -0.5    0.     0.667  0.875]
    relu_layer [5. 0.]
    dropout:   values [0. 2.] - about half are left: True
    lrn:       [0.594 1.188 1.78  2.37  2.958 3.542 4.135 4.73 ]
    batch:     means [1. 1. 1.] deviations [2. 2. 2.]
"""

import numpy as np

import tfexp as tf

x = tf.constant([[-3.0, -1.0, 0.0, 2.0, 7.0]])
functions = {
    "relu": tf.nn.relu(x),
    "sigmoid": tf.nn.sigmoid(x),
    "tanh": tf.nn.tanh(x),
    "elu": tf.nn.elu(x),
    "bias_add": tf.nn.bias_add(x, [1.0, 1.0, 1.0, 1.0, 1.0]),
    "crelu": tf.nn.crelu(x),
    "relu6": tf.nn.relu6(x),
    "softplus": tf.nn.softplus(x),
    "softsign": tf.nn.softsign(x),
    "relu_layer": tf.nn.relu_layer(x, tf.ones([5, 2]), [0.0, -9.0]),
}
dropped = tf.nn.dropout(tf.ones([1000]), keep_prob=0.5, seed=1)
maps = tf.constant(np.arange(1.0, 9.0, dtype=np.float32).reshape(1, 1, 1, 8))
normalized = tf.nn.local_response_normalization(maps, depth_radius=2, bias=2.0, alpha=1e-4, beta=0.75)
batch = tf.constant(np.random.RandomState(0).randn(50, 3).astype(np.float32) * 4 + 9)
mean, variance = tf.nn.moments(batch, axes=[0])
standard = tf.nn.batch_normalization(batch, mean, variance, offset=1.0, scale=2.0, variance_epsilon=1e-3)
with tf.Session() as sess:
    for name, value in sess.run(functions).items():
        print(f"{name:10}", np.array2string(value[0], precision=3, suppress_small=True))
    kept = sess.run(dropped)
    print("dropout:   values", np.unique(kept), "- about half are left:", 400 < np.count_nonzero(kept) < 600)
    print("lrn:      ", np.array2string(sess.run(normalized).ravel(), precision=3))
    after = sess.run(standard)
    print("batch:     means", after.mean(0).round(2) + 0.0, "deviations", after.std(0).round(2))
