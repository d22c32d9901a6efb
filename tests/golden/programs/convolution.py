"""Convolution, pooling and normalisation: what `tf.nn` builds, its values, and gradients of first and second order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.golden.programs.registry import Outcome, Run, program, runs, values

_LOOSE = {"rtol": 2e-4, "atol": 2e-4}


def _differentiated(
    tf: Any, make: Callable[..., Any], *shapes: Sequence[int], second: bool = True, name: str = ""
) -> Outcome:
    """`make` of placeholders, with its gradients, and theirs."""
    arrays = [values(f"{name}{i}", *shape) for i, shape in enumerate(shapes)]
    inputs = [tf.placeholder(tf.float32, shape) for shape in shapes]
    result = make(*inputs)
    found = tf.gradients(tf.square(result), inputs)
    fetched = [result, *found]
    if second:
        with tf.name_scope("second"):
            fetched += tf.gradients(found, inputs)
    feeds = dict(zip(inputs, arrays, strict=True))
    return runs(Run([t for t in fetched if t is not None], feeds, **_LOOSE))


@program("O5: conv2d, SAME and strided")
def conv2d_same(tf: Any) -> Outcome:
    return _differentiated(tf, lambda x, w: tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME"), (2, 7, 5, 3), (3, 2, 3, 5), name="c2")


@program("O5: conv2d, VALID and dilated")
def conv2d_valid(tf: Any) -> Outcome:
    def make(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, filters=w, strides=1, padding="VALID")

    return _differentiated(tf, make, (2, 7, 5, 3), (3, 2, 3, 5), name="cv")


@program("O5: conv2d, explicit padding")
def conv2d_explicit(tf: Any) -> Outcome:
    def make(x: Any, w: Any) -> Any:
        return tf.nn.conv2d(x, w, [1, 2, 2, 1], [[0, 0], [2, 1], [0, 3], [0, 0]], name="padded")

    return _differentiated(tf, make, (2, 7, 5, 3), (3, 2, 3, 5), name="ce")


@program("O5: conv2d of unknown sizes")
def conv2d_unknown(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None, None, 5, 3]), tf.placeholder(tf.float32)
    y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME")
    found = tf.gradients(y, [x, w])
    feeds = {x: values("unkx", 2, 7, 5, 3), w: values("unkw", 3, 3, 3, 2)}
    return runs(Run([y, *found], feeds, **_LOOSE), shapes=[str(t.get_shape()) for t in (y, *found)])


@program("O5: conv1d")
def conv1d(tf: Any) -> Outcome:
    return _differentiated(tf, lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), (2, 11, 3), (3, 3, 5), name="c1")


@program("O5: conv3d")
def conv3d(tf: Any) -> Outcome:
    def make(x: Any, w: Any) -> Any:
        return tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME")

    return _differentiated(tf, make, (2, 5, 4, 3, 2), (2, 3, 2, 2, 3), name="c3")


@program("O5: depthwise and separable convolution")
def depthwise(tf: Any) -> Outcome:
    def make(x: Any, w: Any, p: Any) -> Any:
        channels = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")
        return tf.concat([channels, tf.nn.separable_conv2d(x, w, p, [1, 2, 2, 1], "SAME")], 3)

    return _differentiated(tf, make, (2, 7, 5, 3), (3, 2, 3, 2), (1, 1, 6, 5), name="dw")


@program("O5: dilated convolutions, through the batch")
def dilated(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [2, 8, 9, 3]), tf.placeholder(tf.float32, [3, 3, 3, 5])
    d, s = tf.placeholder(tf.float32, [3, 3, 3, 2]), tf.placeholder(tf.float32, [2, 9, 3])
    f = tf.placeholder(tf.float32, [3, 3, 2])
    made = [
        tf.nn.atrous_conv2d(x, w, 2, "SAME"),
        tf.nn.atrous_conv2d(x, w, 1, "VALID"),
        tf.nn.convolution(x, w, "VALID", dilation_rate=[2, 3]),
        tf.nn.convolution(x, w, "SAME", strides=[2, 1]),
        tf.nn.convolution(s, f, "VALID", dilation_rate=[2]),
        tf.nn.depthwise_conv2d(x, d, [1, 1, 1, 1], "SAME", rate=[2, 2]),
        tf.nn.pool(x, [2, 2], "AVG", "VALID", dilation_rate=[2, 2]),
        tf.nn.pool(x, [2, 2], "MAX", "SAME"),
        tf.nn.pool(s, [2], "AVG", "VALID", strides=[2]),
    ]
    feeds = {
        x: values("dilx", 2, 8, 9, 3),
        w: values("dilw", 3, 3, 3, 5),
        d: values("dild", 3, 3, 3, 2),
        s: values("dils", 2, 9, 3),
        f: values("dilf", 3, 3, 2),
    }
    return runs(Run(made, feeds, **_LOOSE), Run(tf.gradients(made[0], [x, w]), feeds, **_LOOSE))


@program("O5: dilation of unknown sizes")
def dilated_unknown(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None, None, None, 3]), tf.placeholder(tf.float32, [3, 3, 3, 5])
    made = [tf.nn.atrous_conv2d(x, w, 2, "VALID"), tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 1])]
    feeds = {x: values("dunx", 2, 8, 9, 3), w: values("dunw", 3, 3, 3, 5)}
    return runs(Run(made, feeds, **_LOOSE), shapes=[str(t.get_shape()) for t in made])


@program("O5: dilation with the channels second")
def dilated_channels_second(tf: Any) -> None:
    tf.nn.convolution(
        tf.placeholder(tf.float32, [2, 3, 8, 9]),
        tf.placeholder(tf.float32, [3, 3, 3, 5]),
        "SAME",
        dilation_rate=[2, 2],
        data_format="NCHW",
    )


@program("O5: conv2d_transpose")
def conv2d_transpose(tf: Any) -> Outcome:
    def make(x: Any, w: Any) -> Any:
        return tf.nn.conv2d_transpose(x, w, [2, 8, 10, 5], [1, 2, 2, 1])

    return _differentiated(tf, make, (2, 4, 5, 3), (3, 3, 5, 3), name="t2")


@program("O5: conv2d_transpose to a fed shape")
def conv2d_transpose_fed(tf: Any) -> Outcome:
    x, w = tf.placeholder(tf.float32, [None, 4, 5, 3]), tf.placeholder(tf.float32, [3, 3, 5, 3])
    y = tf.nn.conv2d_transpose(x, w, tf.stack([tf.shape(x)[0], 8, 10, 5]), 2)
    found = tf.gradients(y, [x, w])
    feeds = {x: values("tfdx", 2, 4, 5, 3), w: values("tfdw", 3, 3, 5, 3)}
    return runs(Run([y, *found], feeds, **_LOOSE), shape=str(y.get_shape()))


@program("O5: transposed convolutions of volumes")
def transposed(tf: Any) -> Outcome:
    v, g = tf.placeholder(tf.float32, [2, 4, 3, 2, 2]), tf.placeholder(tf.float32, [3, 2, 3, 5, 2])
    made = [tf.nn.conv3d_transpose(v, g, [2, 8, 6, 4, 5], [1, 2, 2, 2, 1])]
    feeds = {v: values("trv", 2, 4, 3, 2, 2), g: values("trg", 3, 2, 3, 5, 2)}
    return runs(Run(made, feeds, **_LOOSE))


@program("O5: max_pool")
def max_pool(tf: Any) -> Outcome:
    return _differentiated(
        tf, lambda x: tf.nn.max_pool(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME"), (2, 7, 5, 3), second=False, name="mp"
    )


@program("O5: second derivatives of max_pool")
def max_pool_second(tf: Any) -> Outcome:
    return _differentiated(tf, lambda x: tf.nn.max_pool(x, 2, 2, "VALID"), (2, 4, 6, 3), name="m2")


@program("O5: avg_pool")
def avg_pool(tf: Any) -> Outcome:
    return _differentiated(tf, lambda x: tf.nn.avg_pool(x, [1, 3, 2, 1], [1, 2, 1, 1], "SAME"), (2, 7, 5, 3), name="ap")


@program("O5: pooling of volumes")
def pool3d(tf: Any) -> Outcome:
    def make(x: Any) -> Any:
        return tf.nn.max_pool3d(x, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], "SAME") + tf.nn.avg_pool3d(
            x, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], "SAME"
        )

    return _differentiated(tf, make, (2, 5, 4, 3, 2), name="p3")


@program("O5: pooling by other names")
def pools(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [2, 8, 9, 3])
    output, argmax = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", include_batch_in_index=True)
    made = [
        tf.nn.max_pool2d(x, 2, [2, 1], "SAME"),
        tf.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "VALID"),
        output,
        argmax,
        tf.gradients(output, x)[0],
    ]
    feeds = {x: values("pox", 2, 8, 9, 3)}
    return runs(Run(made, feeds))


@program("O5: local response normalisation")
def lrn(tf: Any) -> Outcome:
    def make(x: Any) -> Any:
        return tf.nn.lrn(x, 2, bias=1.5, alpha=0.7, beta=0.75, name="norm")

    return _differentiated(tf, make, (2, 3, 2, 7), second=False, name="lr")


@program("O5: fused batch normalisation, training")
def fused_batch_norm(tf: Any) -> Outcome:
    x, scale, offset = (tf.placeholder(tf.float32, shape) for shape in ([5, 3, 2, 7], [7], [7]))
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.01)
    found = tf.gradients(tf.square(y), [x, scale, offset])
    feeds = {x: values("fbx", 5, 3, 2, 7), scale: values("fbs", 7), offset: values("fbo", 7)}
    return runs(Run([y, mean, variance, *found], feeds, **_LOOSE))


@program("O5: fused batch normalisation, inference")
def fused_batch_norm_inference(tf: Any) -> Outcome:
    x = tf.placeholder(tf.float32, [5, 3, 2, 7])
    vectors = [tf.placeholder(tf.float32, [7]) for _ in range(4)]
    y, _, _ = tf.nn.fused_batch_norm(x, *vectors, is_training=False, name="bn")
    found = tf.gradients(tf.square(y), [x, *vectors[:2]])
    feeds = {x: values("fix", 5, 3, 2, 7), **{v: values(f"fi{i}", 7, low=0.5, high=2) for i, v in enumerate(vectors)}}
    return runs(Run([y, *found], feeds, **_LOOSE))


def _lenet(tf: Any, optimizer: Callable[[Any], Any]) -> Outcome:
    """Convolution, pooling, LRN, dropout and two dense layers, trained for two steps."""
    tf.set_random_seed(7)
    x, labels = tf.placeholder(tf.float32, [None, 64], name="x"), tf.placeholder(tf.int64, [None], name="labels")
    keep = tf.placeholder(tf.float32, name="keep")
    h = tf.reshape(x, [-1, 8, 8, 1])
    for index, (depth, units) in enumerate(((1, 3), (3, 5))):
        with tf.variable_scope(f"conv{index}"):
            w = tf.Variable(values(f"lw{index}", 3, 3, depth, units), name="weights")
            b = tf.Variable(tf.constant(0.1, shape=[units]), name="biases")
            h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(h, w, strides=[1, 1, 1, 1], padding="SAME"), b))
            h = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
            h = tf.nn.lrn(h, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75)
    h = tf.reshape(h, [-1, 2 * 2 * 5])
    w = tf.Variable(values("lwfc", 20, 7), name="dense")
    h = tf.nn.dropout(tf.nn.relu(tf.matmul(h, w)), keep)
    logits = tf.matmul(h, tf.Variable(values("lwout", 7, 3), name="out"))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    train = optimizer(tf.train).minimize(loss)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))
    feeds = {x: values("lx", 7, 64), labels: np.arange(7) % 3, keep: 1.0}
    init = tf.global_variables_initializer()
    trained = tf.trainable_variables()
    return runs(Run(init), *[Run(train, feeds)] * 2, Run([loss, accuracy, *trained], feeds, rtol=1e-3, atol=1e-4))


_OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda train: train.GradientDescentOptimizer(0.1),
    "momentum": lambda train: train.MomentumOptimizer(0.1, 0.9),
    "nesterov": lambda train: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "adagrad": lambda train: train.AdagradOptimizer(0.1),
    "adadelta": lambda train: train.AdadeltaOptimizer(1.0),
    "adam": lambda train: train.AdamOptimizer(0.01),
    "rmsprop": lambda train: train.RMSPropOptimizer(0.01),
    "ftrl": lambda train: train.FtrlOptimizer(0.1),
}


def _register_lenets() -> None:
    for name, optimizer in _OPTIMIZERS.items():

        def build(tf: Any, optimizer: Callable[[Any], Any] = optimizer) -> Outcome:
            return _lenet(tf, optimizer)

        program(f"O5, E1: a LeNet with {name}", f"lenet_{name}")(build)


_register_lenets()
