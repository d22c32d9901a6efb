"""The measured op families: their hot ops at 10^3 and 10^6 elements, and those that models lean on.

Inputs are variables, and of each result one element is handed out, so that the op is measured and not feeding or fetching.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[], Any]
Build = Callable[[Any], Step]


def _arrays(make: Callable[..., Any], *arrays: Callable[[], np.ndarray]) -> Build:
    """`make(tf, *variables)` gives the value to compute; the arrays are made when the program is built."""

    def build(tf: Any) -> Step:
        value = make(tf, *(tf.Variable(array()) for array in arrays))
        session = tf.Session()
        session.run(tf.global_variables_initializer())
        result = value if isinstance(value, tf.Operation) else tf.reshape(value, [-1])[:1]
        return lambda: session.run(result)

    return build


def _floats(*shape: int, shift: float = 0.0) -> Callable[[], np.ndarray]:
    return lambda: np.random.default_rng(7).standard_normal(shape).astype(np.float32) + np.float32(shift)


# Each takes a matrix, or two of the same shape.
_UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda tf, x: tf.exp(x),
    "tanh": lambda tf, x: tf.tanh(x),
    "sigmoid": lambda tf, x: tf.sigmoid(x),
    "relu": lambda tf, x: tf.nn.relu(x),
    "sum, all": lambda tf, x: tf.reduce_sum(x),
    "sum, rows": lambda tf, x: tf.reduce_sum(x, 1),
    "sum, columns": lambda tf, x: tf.reduce_sum(x, 0),
    "max, rows": lambda tf, x: tf.reduce_max(x, 1),
    "argmax, rows": lambda tf, x: tf.argmax(x, 1),
    "softmax": lambda tf, x: tf.nn.softmax(x),
    "transpose": lambda tf, x: tf.transpose(x),
    "concat": lambda tf, x: tf.concat([x, x], 1),
    "tile": lambda tf, x: tf.tile(x, [2, 1]),
    "pad": lambda tf, x: tf.pad(x, [[1, 1], [1, 1]]),
    "cast to int32": lambda tf, x: tf.cast(x, tf.int32),
    "cumsum": lambda tf, x: tf.cumsum(x, 1),
    "top 5": lambda tf, x: tf.nn.top_k(x, 5).values,
}
_BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda tf, x, y: x + y,
    "multiply, add": lambda tf, x, y: x * y + x,
    "divide": lambda tf, x, y: x / y,
    "add a row": lambda tf, x, y: x + y[:1],
    "where": lambda tf, x, y: tf.where(x > y, x, y),
    "squared difference": lambda tf, x, y: tf.squared_difference(x, y),
}


def _sized(elements: int, shape: tuple[int, int]) -> dict[str, tuple[Build, float | None]]:
    x, y = _floats(*shape), _floats(*shape, shift=3)
    size = f"10^{len(str(elements)) - 1}"
    programs = {f"{name}, {size}": _arrays(make, x) for name, make in _UNARY.items()}
    programs |= {f"{name}, {size}": _arrays(make, x, y) for name, make in _BINARY.items()}
    return {name: (build, 1.0) for name, build in programs.items()}


_LABELS = np.random.default_rng(7).integers(0, 1000, 256).astype(np.int32)
_IDS = np.random.default_rng(8).integers(0, 50_000, 1024).astype(np.int32)

_MODELS: dict[str, Build] = {
    "batched matmul, 64 of 64x64": _arrays(lambda tf, a, b: tf.matmul(a, b), _floats(64, 64, 64), _floats(64, 64, 64)),
    "softmax cross entropy, 256x1000": _arrays(
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=_LABELS, logits=x), _floats(256, 1000)
    ),
    "softmax cross entropy, 256x1000, gradient": _arrays(
        lambda tf, x: tf.gradients(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=_LABELS, logits=x), x)[0],
        _floats(256, 1000),
    ),
    "embedding lookup, 1,024 of 50,000x128": _arrays(
        lambda tf, table: tf.nn.embedding_lookup(table, tf.constant(_IDS)), _floats(50_000, 128)
    ),
    "sparse update, 1,024 of 50,000x128": _arrays(
        lambda tf, table: tf.scatter_add(table, tf.constant(_IDS), tf.constant(_floats(1024, 128)())).op,
        _floats(50_000, 128),
    ),
}


def _numbers() -> np.ndarray:
    return np.array([f"{n}.25" for n in range(10_000)], object)


def _words() -> np.ndarray:
    return np.array([f"word{n} and other{n % 7}" for n in range(10_000)], object)


def _strings(make: Callable[[Any, Any], Any], values: Callable[[], np.ndarray]) -> Build:
    return _arrays(lambda tf, _: make(tf, tf.Variable(tf.constant(values(), tf.string))), _floats(1))


_STRINGS: dict[str, Build] = {
    "as_string, 10^4": _arrays(lambda tf, x: tf.as_string(x), lambda: np.arange(10_000)),
    "string_to_number, 10^4": _strings(lambda tf, s: tf.string_to_number(s), _numbers),
    "string_split, 10^4": _strings(lambda tf, s: tf.string_split(s).values, _words),
    "regex_replace, 10^4": _strings(lambda tf, s: tf.strings.regex_replace(s, "o[a-z]", "x"), _words),
    "string_join, 10^4": _strings(lambda tf, s: tf.strings.join([s, s], "-"), _words),
    "substr, 10^4": _strings(lambda tf, s: tf.strings.substr(s, 1, 3), _words),
    "hash buckets, 10^4": _strings(lambda tf, s: tf.strings.to_hash_bucket_fast(s, 1000), _words),
}

# name -> (how to build it, the ratio that is aimed at; None where none is)
PROGRAMS: dict[str, tuple[Build, float | None]] = {
    **{f"op: {k}": v for k, v in _sized(1000, (20, 50)).items()},
    **{f"op: {k}": v for k, v in _sized(1_000_000, (1000, 1000)).items()},
    **{f"op: {k}": (v, 1.0) for k, v in _MODELS.items()},
    **{f"op: {k}": (v, None) for k, v in _STRINGS.items()},
}
