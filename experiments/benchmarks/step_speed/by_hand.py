"""Some of the measured programs as one would write them in NumPy: no graph, no session, arrays updated in place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Step = Callable[[], Any]
Update = Callable[[list[np.ndarray], list[np.ndarray]], None]


def linear_regression() -> Step:
    x, y, rate = np.float32(1.7), np.float32(3.1), np.float32(0.01)
    w, b = np.array(0.3, np.float32), np.array(0.1, np.float32)

    def step() -> None:
        slope = 2 * (w * x + b - y)
        np.subtract(w, rate * slope * x, out=w)
        np.subtract(b, rate * slope, out=b)

    return step


def adagrad() -> Step:
    random = np.random.default_rng(7)
    x, y = _floats(random, 20, 8), _floats(random, 20, 1)
    w, b = np.zeros((8, 1), np.float32), np.zeros(1, np.float32)
    squares = [np.full_like(w, 0.1), np.full_like(b, 0.1)]

    def step() -> None:
        slope = (x @ w + b - y) * np.float32(2 / 20)
        for variable, total, gradient in zip((w, b), squares, (x.T @ slope, slope.sum(0)), strict=True):
            total += gradient * gradient
            variable -= np.float32(0.1) * gradient / np.sqrt(total)

    return step


def mlp(make_update: Callable[[list[np.ndarray]], Update], batch: int) -> Callable[[], Step]:
    def build() -> Step:
        random = np.random.default_rng(7)
        weights, biases = [], []
        for n, m in itertools.pairwise([784, 300, 100, 10]):
            weights.append(_floats(random, n, m) * np.float32(np.sqrt(2 / n)))
            biases.append(np.zeros(m, np.float32))
        x, labels = _floats(random, batch, 784), random.integers(10, size=batch).astype(np.int32)
        update, rows = make_update(weights + biases), np.arange(batch)

        def step() -> None:
            layers = [x]
            for w, b in zip(weights[:-1], biases[:-1], strict=True):
                h = layers[-1] @ w
                h += b
                layers.append(np.maximum(h, 0, out=h))
            slope = _softmax(layers[-1] @ weights[-1] + biases[-1])
            slope[rows, labels] -= 1
            slope /= batch
            of_weights, of_biases = [], []
            for w, h in zip(reversed(weights), reversed(layers), strict=True):
                of_weights.append(h.T @ slope)
                of_biases.append(slope.sum(0))
                if h is not x:
                    slope = slope @ w.T
                    slope *= h > 0
            update(weights + biases, of_weights[::-1] + of_biases[::-1])

        return step

    return build


def sgd(variables: list[np.ndarray]) -> Update:
    def update(variables: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        for variable, gradient in zip(variables, gradients, strict=True):
            gradient *= np.float32(0.01)
            variable -= gradient

    return update


def adam(variables: list[np.ndarray]) -> Update:
    means, squares = [np.zeros_like(v) for v in variables], [np.zeros_like(v) for v in variables]
    steps: Iterator[int] = itertools.count(1)

    def update(variables: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        number = next(steps)
        rate = np.float32(0.001 * np.sqrt(1 - 0.999**number) / (1 - 0.9**number))
        for variable, gradient, mean, square in zip(variables, gradients, means, squares, strict=True):
            mean += np.float32(0.1) * (gradient - mean)
            gradient *= gradient
            square += np.float32(0.001) * (gradient - square)
            root = np.sqrt(square)
            root += np.float32(1e-8)
            np.divide(mean, root, out=root)
            root *= rate
            variable -= root

    return update


def chain() -> Step:
    x = np.ones(10, np.float32)
    h = np.empty_like(x)

    def step() -> np.ndarray:
        np.add(x, x, out=h)
        for _ in range(1999):
            np.add(h, x, out=h)
        return h

    return step


def large_chain() -> Step:
    x = np.random.default_rng(7).standard_normal(1_000_000).astype(np.float32)
    scale, shift, h = np.float32(0.9), np.float32(0.1), np.empty_like(x)

    def step() -> np.ndarray:
        np.multiply(x, scale, out=h)
        np.add(h, shift, out=h)
        for _ in range(19):
            np.multiply(h, scale, out=h)
            np.add(h, shift, out=h)
        return h[:1]

    return step


def one_add() -> Step:
    x, y = np.float32(1), np.float32(2)
    return lambda: x + y


def lstm() -> Step:
    """Forward, without what a backward pass would need."""
    random = np.random.default_rng(7)
    kernel, bias = _floats(random, 256, 512) * np.float32(0.06), np.zeros(512, np.float32)
    x = np.ascontiguousarray(_floats(np.random.default_rng(7), 32, 50, 128).swapaxes(0, 1))

    def step() -> np.float32:
        outputs = np.empty_like(x)
        c, h = np.zeros((2, 32, 128), np.float32)
        for now, output in zip(x, outputs, strict=True):
            i, j, f, o = np.split(np.concatenate([now, h], 1) @ kernel + bias, 4, axis=1)
            c = c * _sigmoid(f + 1) + _sigmoid(i) * np.tanh(j)
            h = np.multiply(np.tanh(c), _sigmoid(o), out=output)
        return np.mean(np.square(outputs))

    return step


def _softmax(x: np.ndarray) -> np.ndarray:
    x -= x.max(1, keepdims=True)
    np.exp(x, out=x)
    x /= x.sum(1, keepdims=True)
    return x


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


PROGRAMS: dict[str, Callable[[], Step]] = {
    "linear regression, one fed sample, SGD": linear_regression,
    "linear model, batch 20 x 8, Adagrad": adagrad,
    "MLP 784-300-100-10, batch 64, SGD": mlp(sgd, 64),
    "MLP 784-300-100-10, batch 64, Adam": mlp(adam, 64),
    "MLP 784-300-100-10, batch 512, Adam": mlp(adam, 512),
    "chain of 2,000 additions of 10 numbers": chain,
    "chain of 40 operations on 10^6 numbers": large_chain,
    "one fed addition": one_add,
    "dynamic_rnn, LSTM 128, 50 steps, batch 32": lstm,
}
