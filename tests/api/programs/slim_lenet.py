"""A network of slim layers under argument scopes, its losses and its training operation."""

import tensorflow as tf
from tensorflow.contrib import slim
from tensorflow.contrib.framework.python.ops import arg_scope

assert slim is tf.contrib.slim


def lenet(images, num_classes=10, is_training=True, reuse=None, scope="LeNet"):
    ends = {}
    layers = [slim.conv2d, slim.fully_connected]
    defaults = {"weights_regularizer": slim.l2_regularizer(0.0005), "activation_fn": tf.nn.relu}
    with tf.variable_scope(scope, "LeNet", [images], reuse=reuse), arg_scope(layers, **defaults):
        with slim.arg_scope([slim.batch_norm, slim.dropout], is_training=is_training):
            net = ends["conv1"] = slim.conv2d(images, 8, [5, 5], scope="conv1")
            net = slim.max_pool2d(net, [2, 2], 2, scope="pool1")
            net = slim.conv2d(net, 16, 3, normalizer_fn=slim.batch_norm, normalizer_params={"decay": 0.9}, scope="conv2")
            net = slim.repeat(net, 2, slim.conv2d, 16, [3, 3], scope="conv3")
            net = slim.flatten(slim.avg_pool2d(net, [2, 2], scope="pool2"))
            net = slim.stack(net, slim.fully_connected, [32, 24], scope="fc")
            net = slim.dropout(net, 0.5, scope="dropout")
            logits = slim.fully_connected(net, num_classes, activation_fn=None, scope="logits")
    ends["Predictions"] = slim.softmax(logits, scope="Predictions")
    return logits, ends


tf.set_random_seed(1)
logits, ends = lenet(tf.random_uniform([4, 28, 28, 1]))
slim.losses.softmax_cross_entropy(logits, slim.one_hot_encoding(tf.constant([1, 2, 3, 4]), 10))
total = slim.losses.get_total_loss()
train = slim.learning.create_train_op(total, tf.train.MomentumOptimizer(0.01, 0.9))
model = [v.op.name for v in slim.get_model_variables()]
assert model[:3] == ["LeNet/conv1/weights", "LeNet/conv1/biases", "LeNet/conv2/weights"] and len(model) == 16, model
restored = slim.get_variables_to_restore(exclude=["LeNet/logits", "global_step"])
assert not any("logits" in v.op.name for v in restored if not v.op.name.endswith("Momentum"))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    assert all(session.run(train) > 0 for _ in range(2))
    assert session.run(tf.train.get_global_step()) == 2
    average = session.run(slim.get_unique_variable("LeNet/conv2/BatchNorm/moving_mean"))
    assert abs(average).max() > 0
