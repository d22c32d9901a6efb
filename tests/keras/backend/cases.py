"""Calls of tf.keras.backend whose results real TensorFlow's Keras has said (`record.py`): name -> function of the backend.

`arr(*shape)` are fixed numbers between 0 and 1, new ones at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Numbers:
    """Fixed numbers, as constants of a backend."""

    def __init__(self, backend: Any):
        self.backend = backend
        self._numbers = np.random.RandomState(7)

    def __call__(self, *shape: int) -> Any:
        return self.backend.constant(self._numbers.rand(*shape))

    def ints(self, values: Any) -> Any:
        return self.backend.constant(values, dtype="int32")

    def some(self, *shape: int) -> Any:
        """A placeholder that stands for them where only the shape is known in part: the batch's size is not."""
        return self.backend.placeholder((None, *shape[1:]))


Case = Callable[[Any, Numbers], Any]

VALUES: dict[str, Case] = {
    "abs": lambda K, arr: K.abs(arr(2, 3) - 0.5),
    "sqrt of negatives": lambda K, arr: K.sqrt(arr(2, 3) - 0.5),
    "elementwise": lambda K, arr: [f(arr(2, 3)) for f in (K.square, K.exp, K.log, K.sign, K.sin, K.cos)],
    "round": lambda K, arr: K.round(K.constant([0.5, 1.5, -2.5, 0.3])),
    "pow": lambda K, arr: K.pow(arr(2, 3), 3),
    "clip": lambda K, arr: [K.clip(arr(5), 0.2, 0.6), K.clip(arr(5), 0.6, 0.2), K.clip(arr(5), None, 0.4)],
    "compare": lambda K, arr: [
        f(arr(5), 0.5) for f in (K.greater, K.greater_equal, K.less, K.less_equal, K.maximum, K.minimum)
    ],
    "equal": lambda K, arr: [
        K.equal(arr.ints([1, 2]), 2),
        K.not_equal(arr.ints([1, 2]), 2),
        K.cast(arr.ints([1]), "float16"),
    ],
    "reduce": lambda K, arr: [f(arr(2, 3, 4), axis=1) for f in (K.sum, K.prod, K.mean, K.var, K.std, K.max, K.min)],
    "reduce all": lambda K, arr: [f(arr(2, 3), keepdims=True) for f in (K.sum, K.mean, K.var, K.std)],
    "reduce bools": lambda K, arr: [f(arr(5) > 0.4) for f in (K.mean, K.var, K.std, K.any, K.all)],
    "any, all": lambda K, arr: [K.any(arr.ints([[0, 1], [0, 0]]), axis=1), K.all(arr.ints([[1, 1], [0, 1]]), axis=1)],
    "argmax": lambda K, arr: [K.argmax(arr(3, 5)), K.argmin(arr(3, 5), axis=0)],
    "cumulative": lambda K, arr: [K.cumsum(arr(2, 3)), K.cumprod(arr(2, 3), axis=1)],
    "reshape": lambda K, arr: [K.reshape(arr(2, 6), (3, 4)), K.transpose(arr(2, 3)), K.flatten(arr(2, 3))],
    "permute": lambda K, arr: K.permute_dimensions(arr(2, 3, 5), (0, 2, 1)),
    "batch_flatten": lambda K, arr: K.batch_flatten(arr(2, 3, 5)),
    "expand, squeeze": lambda K, arr: [K.expand_dims(arr(2, 3)), K.expand_dims(arr(2, 3), 1), K.squeeze(arr(2, 1, 3), 1)],
    "join": lambda K, arr: [K.concatenate([arr(2, 3), arr(2, 5)]), K.stack([arr(2, 3), arr(2, 3)], axis=1)],
    "repeat": lambda K, arr: [K.repeat(arr(2, 3), 4), K.repeat_elements(arr(2, 3), 2, 1), K.tile(arr(2, 3), [2, 1])],
    "arange": lambda K, arr: [K.arange(3), K.arange(-2), K.arange(1, 6, 2), K.arange(1, 3, dtype="float32")],
    "reverse": lambda K, arr: [K.reverse(arr(2, 3), 1), K.reverse(arr(2, 3), (0, 1))],
    "gather": lambda K, arr: K.gather(arr(5, 3), arr.ints([[4, 0], [1, 1]])),
    "one_hot": lambda K, arr: K.one_hot(arr.ints([[2, 0], [1, 1]]), 3),
    "padding": lambda K, arr: [
        K.temporal_padding(arr(1, 2, 3), (2, 1)),
        K.spatial_2d_padding(arr(1, 2, 3, 1), ((1, 2), (0, 1))),
    ],
    "padding first": lambda K, arr: K.spatial_2d_padding(arr(1, 2, 3, 2), ((1, 2), (0, 1)), "channels_first"),
    "padding 3d": lambda K, arr: K.spatial_3d_padding(arr(1, 2, 1, 2, 1), ((1, 0), (0, 1), (2, 0))),
    "resize": lambda K, arr: K.resize_images(arr(1, 2, 3, 2), 2, 3, "channels_last"),
    "resize bilinear": lambda K, arr: K.resize_images(arr(1, 2, 2, 3), 2, 3, "channels_first", interpolation="bilinear"),
    "resize volumes": lambda K, arr: K.resize_volumes(arr(1, 2, 1, 2, 1), 2, 3, 2, "channels_last"),
    "dot": lambda K, arr: [K.dot(arr(2, 3), arr(3, 5)), K.dot(arr(2, 3, 4), arr(4, 5)), K.dot(arr(2, 3), arr(2, 3, 2))],
    "batch_dot": lambda K, arr: [
        K.batch_dot(arr(2, 3), arr(2, 3)),
        K.batch_dot(arr(2, 3, 4), arr(2, 4, 5)),
        K.batch_dot(arr(2, 4, 3), arr(2, 5, 4), axes=(1, 2)),
        K.batch_dot(arr(2, 3, 4), arr(2, 3, 5), axes=1),
        K.batch_dot(arr(2, 3, 4), arr(2, 4)),
        K.batch_dot(arr(2, 4), arr(2, 3, 4), axes=(1, 2)),
        K.batch_dot(arr(2, 3, 4, 2), arr(2, 5, 3), axes=(1, 2)),
    ],
    "bias_add": lambda K, arr: [
        K.bias_add(arr(2, 3), arr(3)),
        K.bias_add(arr(2, 3, 4), arr(3), "channels_first"),
        K.bias_add(arr(2, 3, 4), arr(3, 4), "channels_last"),
        K.bias_add(arr(2, 3, 4), arr(4, 3), "channels_first"),
        K.bias_add(arr(2, 2, 3, 2), arr(2, 3, 2)),
        K.bias_add(arr(2, 2, 3, 2), arr(3, 2, 2), "channels_first"),
        K.bias_add(arr(1, 2, 3, 2, 2), arr(2)),
    ],
    "relu": lambda K, arr: [
        K.relu(arr(7) * 12 - 4, **options)
        for options in (
            {},
            {"alpha": 0.1},
            {"max_value": 6},
            {"max_value": 3},
            {"threshold": 0.5},
            {"alpha": 0.1, "max_value": 3, "threshold": 0.5},
            {"max_value": 6, "threshold": 1},
        )
    ],
    "activations": lambda K, arr: [
        f(arr(3, 4) - 0.5) for f in (K.elu, K.softmax, K.softplus, K.softsign, K.sigmoid, K.tanh)
    ],
    "hard_sigmoid": lambda K, arr: [K.hard_sigmoid(arr(7) * 12 - 4), K.elu(arr(5) - 0.5, 0.3), K.softmax(arr(2, 3), 0)],
    "l2_normalize": lambda K, arr: [K.l2_normalize(arr(2, 3), 1), K.l2_normalize(arr(2, 3))],
    "in_top_k": lambda K, arr: K.in_top_k(arr(5, 4), arr.ints([0, 1, 2, 3, 0]), 2),
    "normalize images": lambda K, arr: list(K.normalize_batch_in_training(arr(2, 3, 2, 3), arr(3), arr(3), [0, 1, 2])),
    "normalize without scale": lambda K, arr: list(K.normalize_batch_in_training(arr(2, 3, 2, 3), None, None, [0, 1, 2])),
    "normalize rows": lambda K, arr: list(K.normalize_batch_in_training(arr(5, 3), arr(3), arr(3), [0])),
    "normalize others": lambda K, arr: list(K.normalize_batch_in_training(arr(4, 3, 2), arr(3), arr(3), [0, 2])),
    "batch_normalization": lambda K, arr: [
        K.batch_normalization(arr(2, 3, 2, 3), arr(3), arr(3), arr(3), arr(3), axis=-1),
        K.batch_normalization(arr(2, 3, 2, 3), arr(3), arr(3), None, None, axis=3),
        K.batch_normalization(arr(2, 3), arr(3), arr(3), arr(3), arr(3), epsilon=0.1),
    ],
    "categorical": lambda K, arr: [
        K.categorical_crossentropy(arr(2, 3), arr(2, 3)),
        K.categorical_crossentropy(arr(2, 3), arr(2, 3) * 5, from_logits=True),
        K.categorical_crossentropy(arr(2, 3, 2), arr(2, 3, 2), axis=1),
    ],
    "sparse categorical": lambda K, arr: [
        K.sparse_categorical_crossentropy(arr.ints([[1], [2]]), arr(2, 3)),
        K.sparse_categorical_crossentropy(arr.ints([1, 2]), arr(2, 3) * 5, from_logits=True),
        K.sparse_categorical_crossentropy(arr.ints([[1, 0], [2, 1]]), arr(2, 2, 3)),
        K.sparse_categorical_crossentropy(arr.ints([[1, 0], [2, 1]]), arr(2, 3, 2), axis=1),
    ],
    "binary": lambda K, arr: [
        K.binary_crossentropy(arr(2, 3), arr(2, 3)),
        K.binary_crossentropy(arr(2, 3), arr(2, 3) * 5, from_logits=True),
    ],
    "of the nodes before": lambda K, arr: [
        K.categorical_crossentropy(arr(2, 3), K.softmax(arr(2, 3) * 50)),
        K.sparse_categorical_crossentropy(arr.ints([1, 2]), K.softmax(arr(2, 3) * 50)),
        K.binary_crossentropy(arr(2, 3), K.sigmoid(arr(2, 3) * 50)),
    ],
    "conv1d": lambda K, arr: [
        K.conv1d(arr(2, 7, 2), arr(3, 2, 3), padding="causal", dilation_rate=2),
        K.conv1d(arr(2, 7, 2), arr(3, 2, 3), strides=2, padding="same"),
    ],
    "conv2d": lambda K, arr: [
        K.conv2d(arr(1, 5, 4, 2), arr(3, 2, 2, 3)),
        K.conv2d(arr(1, 5, 4, 2), arr(3, 2, 2, 3), strides=(2, 1), padding="same"),
        K.conv2d(arr(1, 2, 5, 4), arr(3, 2, 2, 3), data_format="channels_first"),
        K.conv2d(arr(1, 5, 4, 2), arr(2, 2, 2, 3), dilation_rate=(2, 2)),
    ],
    "conv3d": lambda K, arr: K.conv3d(arr(1, 3, 4, 3, 2), arr(2, 2, 2, 2, 3), padding="same"),
    "conv2d_transpose": lambda K, arr: [
        K.conv2d_transpose(arr(1, 2, 3, 2), arr(2, 2, 3, 2), (1, 4, 6, 3), (2, 2), "same"),
        K.conv2d_transpose(arr(1, 2, 3, 3), arr(2, 2, 2, 2), (1, 2, 4, 4), data_format="channels_first"),
        K.conv2d_transpose(arr(1, 4, 4, 2), arr(2, 2, 3, 2), (1, 4, 4, 3), padding="same", dilation_rate=(2, 2)),
    ],
    "depthwise": lambda K, arr: [
        K.depthwise_conv2d(arr(1, 4, 5, 3), arr(2, 2, 3, 2), padding="same"),
        K.depthwise_conv2d(arr(1, 3, 4, 5), arr(2, 2, 3, 2), data_format="channels_first"),
    ],
    "separable": lambda K, arr: K.separable_conv2d(arr(1, 4, 5, 3), arr(2, 2, 3, 2), arr(1, 1, 6, 4)),
    "pool": lambda K, arr: [
        K.pool2d(arr(1, 5, 4, 2), (2, 2), (2, 2), "same"),
        K.pool2d(arr(1, 5, 4, 2), (2, 2), pool_mode="avg"),
        K.pool2d(arr(1, 2, 5, 4), (2, 3), (1, 2), "same", "channels_first", "avg"),
        K.pool3d(arr(1, 3, 4, 3, 2), (2, 2, 2), (1, 2, 1), "valid", None, "max"),
        K.pool3d(arr(1, 2, 3, 4, 3), (2, 2, 2), (2, 2, 2), "same", "channels_first", "avg"),
    ],
    "local": lambda K, arr: [
        K.local_conv1d(arr(2, 5, 2), arr(3, 6, 4), (3,), (1,)),
        K.local_conv1d(arr(2, 5, 2), arr(2, 6, 4), (3,), (2,)),
        K.local_conv2d(arr(2, 4, 5, 2), arr(9, 12, 3), (2, 3), (1, 1), (3, 3), "channels_last"),
        K.local_conv2d(arr(2, 2, 4, 5), arr(4, 12, 3), (2, 3), (2, 2), (2, 2), "channels_first"),
    ],
    "ctc": lambda K, arr: [
        K.ctc_batch_cost(arr.ints([[0, 1, 2], [1, 1, 0]]), arr(2, 5, 4), arr.ints([[5], [4]]), arr.ints([[3], [2]])),
        # 2.15 fills up to the number of steps, 1.15 to the longest path.
        *[path[:, :2] for path in K.ctc_decode(arr(2, 5, 4), arr.ints([5, 4]), greedy=False, beam_width=5, top_paths=2)[0]],
        K.to_dense(K.ctc_label_dense_to_sparse(arr.ints([[1, 2, 3], [4, 5, 6]]), arr.ints([2, 3]))),
    ],
    "folds": lambda K, arr: [
        K.foldl(lambda a, b: a * 2 + b, arr(3)),
        K.foldr(lambda a, b: a * 2 + b, arr(3), initializer=K.constant(1.0)),
        K.map_fn(lambda a: a * 2, arr(3, 2)),
    ],
    "switch": lambda K, arr: [
        K.switch(arr(4) > 0.5, arr(4), arr(4)),
        K.switch(arr(2, 2) > 0.5, arr(2, 2, 3), arr(2, 2, 3)),
        K.switch(arr.ints(1), lambda: arr(2), lambda: arr(3)),
    ],
    "eye": lambda K, arr: [K.eye(3), K.zeros((2,)), K.ones((2, 1)), K.zeros_like(arr(2, 3)), K.ones_like(arr(2))],
}

SHAPES: dict[str, Case] = {
    "batch_flatten": lambda K, arr: K.batch_flatten(arr.some(2, 3, 4)),
    "dot": lambda K, arr: K.dot(arr.some(2, 3, 4), arr(5, 4, 6)),
    "batch_dot": lambda K, arr: K.batch_dot(arr.some(2, 3, 4), arr.some(2, 4)),
    "batch_dot of rank 4": lambda K, arr: K.batch_dot(arr.some(2, 3, 4), arr.some(2, 5, 4, 6), axes=(2, 2)),
    "resize": lambda K, arr: K.resize_images(arr.some(2, 3, 4, 5), 2, 3, "channels_last"),
    "resize volumes": lambda K, arr: K.resize_volumes(arr.some(2, 3, 4, 5, 6), 2, 3, 2, "channels_last"),
    "repeat_elements": lambda K, arr: K.repeat_elements(arr.some(2, 3), 2, 1),
    "conv2d_transpose": lambda K, arr: K.conv2d_transpose(
        arr.some(2, 4, 5, 3), arr(2, 2, 6, 3), (None, 8, 10, 6), (2, 2), "same"
    ),
    "sparse categorical": lambda K, arr: K.sparse_categorical_crossentropy(arr.some(2, 4, 1), arr.some(2, 4, 3)),
    "local": lambda K, arr: K.local_conv1d(arr.some(2, 5, 2), arr(3, 6, 4), (3,), (1,)),
    "in_train_phase": lambda K, arr: K.in_train_phase(arr.some(2, 3), arr.some(2, 3)),
    "placeholder": lambda K, arr: K.placeholder(ndim=3),
}

ERRORS: dict[str, Case] = {
    "batch_dot sizes": lambda K, arr: K.batch_dot(arr(2, 3), arr(2, 4)),
    "batch_dot batch axis": lambda K, arr: K.batch_dot(arr(2, 3, 4), arr(2, 4, 5), axes=(0, 1)),
    "batch_dot batches": lambda K, arr: K.batch_dot(arr(2, 3, 4), arr(3, 4, 5)),
    "batch_dot rank": lambda K, arr: K.batch_dot(arr(2), arr(2, 4)),
    "batch_dot axes": lambda K, arr: K.batch_dot(arr(2, 3), arr(2, 4), axes=((1, 2), 1)),
    "padding": lambda K, arr: K.conv2d(arr(1, 5, 5, 2), arr(3, 3, 2, 2), padding="x"),
    "data_format": lambda K, arr: K.conv2d(arr(1, 5, 5, 2), arr(3, 3, 2, 2), data_format="x"),
    "pool_mode": lambda K, arr: K.pool2d(arr(1, 5, 5, 2), (2, 2), pool_mode="x"),
    "pool_size": lambda K, arr: K.pool2d(arr(1, 5, 5, 2), (2,)),
    "bias": lambda K, arr: K.bias_add(arr(2, 3, 4), arr(2, 3, 4)),
    "resize": lambda K, arr: K.resize_images(arr(1, 2, 3, 4), 2, 3, "x"),
    "switch": lambda K, arr: K.switch(arr(2, 3), arr(2), arr(2)),
    "learning phase": lambda K, arr: K.set_learning_phase(2),
    "updates": lambda K, arr: K.function([arr.some(2)], [arr(1)], updates=3),
    "arguments": lambda K, arr: K.function([arr.some(2)], [arr(1)], foo=3),
    "keras tensor": lambda K, arr: K.is_keras_tensor(np.ones(2)),
}
