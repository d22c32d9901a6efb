"""Two networks against each other with a gradient penalty; a variational encoder; a Q network and its target."""

import numpy as np
import tensorflow as tf


def generator(z, reuse=False):
    with tf.variable_scope("generator", reuse=reuse):
        h = tf.layers.batch_normalization(tf.layers.dense(z, 32, tf.nn.leaky_relu), training=True)
        h = tf.reshape(tf.layers.dense(h, 3 * 3 * 4), [-1, 3, 3, 4])
        h = tf.layers.conv2d_transpose(h, 8, 5, 2, "same", activation=tf.nn.relu)
        return tf.layers.conv2d_transpose(h, 1, 5, 2, "same", activation=tf.nn.tanh)


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        h = tf.layers.conv2d(x, 8, 5, 2, "same", activation=tf.nn.leaky_relu)
        return tf.layers.dense(tf.layers.dropout(tf.layers.flatten(h), 0.3, training=True), 1)


z, x = tf.placeholder(tf.float32, [None, 16]), tf.placeholder(tf.float32, [None, 12, 12, 1])
fake = generator(z)
real_score, fake_score = discriminator(x), discriminator(fake, reuse=True)
g_loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=fake_score, labels=tf.ones_like(fake_score)))
d_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(real_score), real_score, label_smoothing=0.1)
d_loss += tf.losses.sigmoid_cross_entropy(tf.zeros_like(fake_score), fake_score)
mix = tf.random_uniform([tf.shape(x)[0], 1, 1, 1])
between = mix * x + (1 - mix) * fake
slopes = tf.gradients(discriminator(between, reuse=True), [between])[0]
penalty = tf.reduce_mean((tf.norm(tf.layers.flatten(slopes), axis=1) - 1) ** 2)
g_vars = [v for v in tf.trainable_variables() if v.name.startswith("generator")]
d_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "discriminator")
with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
    g_train = tf.train.AdamOptimizer(2e-4, 0.5).minimize(g_loss, var_list=g_vars)
d_train = tf.train.RMSPropOptimizer(1e-4).minimize(d_loss + 10.0 * penalty, var_list=d_vars)
clip = [v.assign(tf.clip_by_value(v, -0.1, 0.1)) for v in d_vars]

mean, log_variance = tf.layers.dense(z, 4), tf.layers.dense(z, 4)
sample = mean + tf.exp(0.5 * log_variance) * tf.random_normal(tf.shape(mean))
divergence = -0.5 * tf.reduce_sum(1 + log_variance - mean**2 - tf.exp(log_variance), 1)


class QNetwork:
    def __init__(self, scope):
        with tf.variable_scope(scope):
            self.state = tf.placeholder(tf.float32, [None, 4])
            self.action = tf.placeholder(tf.int32, [None])
            self.target = tf.placeholder(tf.float32, [None])
            self.q = tf.layers.dense(tf.layers.dense(self.state, 16, tf.nn.relu), 2)
            chosen = tf.reduce_sum(self.q * tf.one_hot(self.action, 2), 1)
            self.loss = tf.reduce_mean(tf.squared_difference(chosen, self.target))
            self.train = tf.train.AdamOptimizer(0.05).minimize(self.loss)


main, target = QNetwork("main"), QNetwork("target")
copy = [t.assign(m) for m, t in zip(tf.trainable_variables("main"), tf.trainable_variables("target"))]
policy = tf.multinomial(tf.nn.log_softmax(main.q), 1)

config = tf.ConfigProto(gpu_options=tf.GPUOptions(allow_growth=True), allow_soft_placement=True)
with tf.Session(config=config) as session:
    session.run(tf.global_variables_initializer())
    random = np.random.RandomState(1)
    for _ in range(2):
        feeds = {z: random.rand(4, 16), x: random.rand(4, 12, 12, 1)}
        assert np.isfinite(session.run([g_loss, d_loss, penalty, g_train, d_train], feeds)[:3]).all()
        session.run(clip)
    assert max(abs(v).max() for v in session.run(d_vars)) <= 0.1
    assert (session.run(divergence, {z: random.rand(2, 16)}) >= 0).all()
    assert session.run(sample, {z: random.rand(2, 16)}).shape == (2, 4)
    states = random.rand(3, 4)
    feeds = {main.state: states, main.action: [0, 1, 0], main.target: [1.0, 2.0, 3.0]}
    losses = [session.run([main.loss, main.train], feeds)[0] for _ in range(30)]
    session.run(copy)
    assert losses[-1] < losses[0]
    np.testing.assert_array_equal(session.run(main.q, feeds), session.run(target.q, {target.state: states}))
    assert session.run(policy, feeds).shape == (3, 1)
