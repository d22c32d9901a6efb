"""Some of the measured programs in JAX, each step compiled, with its variables donated, on the processor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Step = Callable[[], Any]
Loss = Callable[..., Any]


def _training(loss: Loss, update: Callable[..., Any], variables: Any, slots: Any, feeds: list[np.ndarray]) -> Step:
    """What runs one step of `update(variables, gradients, slots) -> variables, slots` and waits for it."""

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def compiled(variables: Any, slots: Any, *feeds: Any) -> Any:
        return update(variables, jax.grad(loss)(variables, *feeds), slots)

    state = (variables, slots)

    def step() -> None:
        nonlocal state
        state = jax.block_until_ready(compiled(*state, *feeds))

    return step


def _sgd(variables: Any, gradients: Any, slots: Any) -> Any:
    return jax.tree.map(lambda v, g: v - 0.01 * g, variables, gradients), slots


def _adam(variables: Any, gradients: Any, slots: Any) -> Any:
    means, squares, number = slots
    number = number + 1
    means = jax.tree.map(lambda m, g: m + 0.1 * (g - m), means, gradients)
    squares = jax.tree.map(lambda s, g: s + 0.001 * (g * g - s), squares, gradients)
    rate = 0.001 * jnp.sqrt(1 - 0.999**number) / (1 - 0.9**number)
    variables = jax.tree.map(lambda v, m, s: v - rate * m / (jnp.sqrt(s) + 1e-8), variables, means, squares)
    return variables, (means, squares, number)


def _adagrad(variables: Any, gradients: Any, slots: Any) -> Any:
    slots = jax.tree.map(lambda s, g: s + g * g, slots, gradients)
    return jax.tree.map(lambda v, g, s: v - 0.1 * g / jnp.sqrt(s), variables, gradients, slots), slots


def _slots(update: Any, variables: Any) -> Any:
    if update is _adam:
        return (jax.tree.map(jnp.zeros_like, variables), jax.tree.map(jnp.zeros_like, variables), jnp.float32(0))
    return jax.tree.map(lambda v: jnp.full_like(v, 0.1), variables) if update is _adagrad else ()


def linear_regression() -> Step:
    variables = (jnp.float32(0.3), jnp.float32(0.1))
    feeds = [np.float32(1.7), np.float32(3.1)]
    return _training(lambda v, x, y: (v[0] * x + v[1] - y) ** 2, _sgd, variables, (), feeds)


def adagrad() -> Step:
    random = np.random.default_rng(7)
    variables = (jnp.zeros((8, 1)), jnp.zeros(1))
    feeds = [_floats(random, 20, 8), _floats(random, 20, 1)]
    loss = lambda v, x, y: jnp.mean((x @ v[0] + v[1] - y) ** 2)  # noqa: E731
    return _training(loss, _adagrad, variables, _slots(_adagrad, variables), feeds)


def mlp(update: Callable[..., Any], batch: int) -> Callable[[], Step]:
    def loss(variables: Any, x: Any, labels: Any) -> Any:
        for at, (w, b) in enumerate(variables):
            x = x @ w + b
            x = jax.nn.relu(x) if at < 2 else x
        return _cross_entropy(x, labels)

    def build() -> Step:
        random = np.random.default_rng(7)
        variables = [
            (jnp.asarray(_floats(random, n, m) * np.float32(np.sqrt(2 / n))), jnp.zeros(m))
            for n, m in ((784, 300), (300, 100), (100, 10))
        ]
        feeds = [_floats(random, batch, 784), random.integers(10, size=batch).astype(np.int32)]
        return _training(loss, update, variables, _slots(update, variables), feeds)

    return build


def cnn() -> Step:
    random = np.random.default_rng(7)
    variables = [
        (jnp.asarray(_floats(random, 5, 5, n, m) * np.float32(0.1)), jnp.full(m, 0.1)) for n, m in ((1, 32), (32, 64))
    ]
    variables += [
        (jnp.asarray(_floats(random, n, m) * np.float32(np.sqrt(2 / n))), jnp.zeros(m))
        for n, m in ((3136, 1024), (1024, 10))
    ]

    def loss(variables: Any, x: Any, labels: Any) -> Any:
        for w, b in variables[:2]:
            x = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x + b)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
        (w, b), (last_w, last_b) = variables[2:]
        return _cross_entropy(jax.nn.relu(x.reshape(-1, 3136) @ w + b) @ last_w + last_b, labels)

    feeds = [_floats(random, 64, 28, 28, 1), random.integers(10, size=64).astype(np.int32)]
    return _training(loss, _adam, variables, _slots(_adam, variables), feeds)


def lstm(is_training: bool) -> Callable[[], Step]:
    def loss(variables: Any, x: Any) -> Any:
        kernel, bias = variables

        def cell(state: Any, now: Any) -> Any:
            c, h = state
            i, j, f, o = jnp.split(jnp.concatenate([now, h], 1) @ kernel + bias, 4, axis=1)
            c = c * jax.nn.sigmoid(f + 1) + jax.nn.sigmoid(i) * jnp.tanh(j)
            h = jnp.tanh(c) * jax.nn.sigmoid(o)
            return (c, h), h

        zeros = jnp.zeros((32, 128))
        return jnp.mean(jnp.square(jax.lax.scan(cell, (zeros, zeros), x.swapaxes(0, 1))[1]))

    def build() -> Step:
        random = np.random.default_rng(7)
        variables = (jnp.asarray(_floats(random, 256, 512) * np.float32(0.06)), jnp.zeros(512))
        x = _floats(np.random.default_rng(7), 32, 50, 128)
        if is_training:
            return _training(loss, _sgd, variables, (), [x])
        compiled = jax.jit(loss)
        return lambda: compiled(variables, x).block_until_ready()

    return build


def _repeated(times: int, operation: Callable[[Any, Any], Any], first: np.ndarray) -> Callable[[], Step]:
    def build() -> Step:
        @jax.jit
        def compiled(x: Any) -> Any:
            h = x
            for _ in range(times):
                h = operation(h, x)
            return h

        return lambda: compiled(first).block_until_ready()

    return build


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


def _floats(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.standard_normal(shape).astype(np.float32)


PROGRAMS: dict[str, Callable[[], Step]] = {
    "linear regression, one fed sample, SGD": linear_regression,
    "linear model, batch 20 x 8, Adagrad": adagrad,
    "MLP 784-300-100-10, batch 64, SGD": mlp(_sgd, 64),
    "MLP 784-300-100-10, batch 64, Adam": mlp(_adam, 64),
    "MLP 784-300-100-10, batch 512, Adam": mlp(_adam, 512),
    "chain of 2,000 additions of 10 numbers": _repeated(2000, lambda h, x: h + x, np.ones(10, np.float32)),
    "chain of 40 operations on 10^6 numbers": _repeated(
        20, lambda h, x: h * np.float32(0.9) + np.float32(0.1), _floats(np.random.default_rng(7), 1_000_000)
    ),
    "one fed addition": _repeated(1, lambda h, x: h + np.float32(2), np.float32(1)),
    "dynamic_rnn, LSTM 128, 50 steps, batch 32": lstm(False),
    "dynamic_rnn, LSTM 128, 50 steps, batch 32, SGD": lstm(True),
    "CNN 5x5x32, 5x5x64, 1024, batch 64, Adam": cnn,
}
