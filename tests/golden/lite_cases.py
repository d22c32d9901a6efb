"""Graphs that TensorFlow's converter and ours convert, and the numbers that go through them; `tf` is either's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

LITE = Path(__file__).parent / "lite"


def _arrays(*shapes: tuple[int, ...]) -> Iterator[np.ndarray]:
    random = np.random.RandomState(3)
    return (random.uniform(-0.5, 0.5, shape).astype(np.float32) for shape in shapes)


def _images(tf: Any) -> tuple[Any, Any]:
    """Windows, a norm, a sum with what is passed by, a join, products."""
    filters, offsets, depthwise, points, scale, variance, weights, bias = _arrays(
        (3, 3, 2, 6), (6,), (13, 13, 6, 1), (1, 1, 6, 6), (6,), (6,), (12, 5), (5,)
    )
    x = tf.placeholder(tf.float32, [None, 7, 5, 2], name="x")
    h = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, tf.Variable(filters), [1, 2, 2, 1], "SAME"), tf.Variable(offsets)))
    h = tf.nn.depthwise_conv2d(h, tf.Variable(depthwise), [1, 1, 1, 1], "SAME")
    moments = [tf.constant(values) for values in (scale + 1, offsets, offsets, variance + 1)]
    h = tf.nn.relu6(tf.nn.fused_batch_norm(h, *moments, is_training=False)[0])
    h = h + tf.nn.conv2d(h, tf.Variable(points), [1, 1, 1, 1], "SAME")
    h = tf.concat([h, tf.nn.max_pool(h, [1, 3, 3, 1], [1, 1, 1, 1], "SAME")], 3)
    h = tf.reduce_mean(h, [1, 2])
    return x, tf.nn.softmax(tf.matmul(h, tf.Variable(weights)) + tf.Variable(bias), name="y")


def _rows(tf: Any) -> tuple[Any, Any]:
    """A layer whose weights are many."""
    weights, bias, last = _arrays((32, 33), (33,), (33, 3))
    x = tf.placeholder(tf.float32, [None, 32], name="x")
    h = tf.nn.relu(tf.matmul(x, tf.Variable(weights)) + tf.Variable(bias))
    return x, tf.sigmoid(tf.matmul(h, tf.Variable(last)), name="y")


def _examples(*shape: int) -> Any:
    def examples() -> Iterator[list[np.ndarray]]:
        random = np.random.RandomState(5)
        for _ in range(10):
            yield [random.uniform(-1, 1, shape).astype(np.float32)]

    return examples


# name: (graph, settings of the converter)
CASES: dict[str, tuple[Any, Any]] = {
    "images": (_images, lambda tf: {}),
    "images_int8": (
        _images,
        lambda tf: {"optimizations": [tf.lite.Optimize.DEFAULT], "representative_dataset": _examples(1, 7, 5, 2)},
    ),
    "rows_weights": (_rows, lambda tf: {"optimizations": [tf.lite.Optimize.DEFAULT]}),
}


def converted(tf: Any, name: str) -> bytes:
    """The file that a library's converter makes."""
    build, settings = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = build(tf)
        session.run(tf.global_variables_initializer())
        converter = tf.lite.TFLiteConverter.from_session(session, [x], [y])
        for key, value in settings(tf).items():
            setattr(converter, key, value)
        file: bytes = converter.convert()
        return file


def values(interpreter: Any) -> np.ndarray:
    """What goes into a model."""
    (details,) = interpreter.get_input_details()
    return np.random.RandomState(7).uniform(-1, 1, details["shape"]).astype(np.float32)


def outcome(interpreter: Any) -> np.ndarray:
    """What comes out of it."""
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], values(interpreter))
    interpreter.invoke()
    made: np.ndarray = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    return made


def described(interpreter: Any) -> list[list[Any]]:
    """Name, shape, type, scale and zero point of each tensor; scales to six digits."""
    interpreter.allocate_tensors()
    return [
        [
            details["name"],
            [int(size) for size in details["shape"]],
            details["dtype"].__name__,
            float(f"{details['quantization'][0]:.6g}"),
            int(details["quantization"][1]),
        ]
        for details in interpreter.get_tensor_details()
    ]
