"""Layers and what goes in: `record_layers.py` writes down what TensorFlow makes of them, `test_keras_layers.py` compares.

A case is (layer, shapes of the inputs, further arguments of the call). Inputs are random, but for ids, whose shapes are in
`IDS`; weights are set to numbers that `weight_values` makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Case(NamedTuple):
    """layer: makes it, given the namespace `tf.keras`. call: further arguments. masks: whether to compare the mask, too."""

    layer: Callable[[Any], Any]
    shapes: list[tuple[int, ...]]
    call: dict[str, Any] = {}


def _masked_dense(keras: Any) -> Any:
    return keras.layers.TimeDistributed(keras.layers.Dense(5, activation="tanh"))


_NORMALIZED: dict[str, dict[str, Any]] = {
    "plain": {},
    "momentum": {"momentum": 0.7, "epsilon": 0.1},
    "no_scale": {"scale": False},
    "no_center": {"center": False},
    "neither": {"scale": False, "center": False},
    "renorm": {"renorm": True, "renorm_clipping": {"rmax": 1.5, "rmin": 0.5, "dmax": 0.3}, "renorm_momentum": 0.5},
    "virtual": {"virtual_batch_size": 2},
}
_FUSED_SHAPE, _FLAT_SHAPE = (4, 3, 2, 5), (4, 3)

CASES: dict[str, Case] = {
    "dense": Case(lambda keras: keras.layers.Dense(3), [(2, 5)]),
    "dense_relu": Case(lambda keras: keras.layers.Dense(3, activation="relu", use_bias=False), [(2, 5)]),
    "dense_of_sequences": Case(lambda keras: keras.layers.Dense(3, activation="tanh"), [(2, 7, 5)]),
    "dense_of_images": Case(lambda keras: keras.layers.Dense(3), [(2, 3, 2, 5)]),
    "dense_regularized": Case(
        lambda keras: keras.layers.Dense(
            3, kernel_regularizer="l1_l2", bias_regularizer=keras.regularizers.l1_l2(0.2), activity_regularizer="l1_l2",
            kernel_constraint="non_neg", kernel_initializer="zeros", bias_initializer="ones", name="named",
        ),
        [(2, 5)],
    ),
    "activation": Case(lambda keras: keras.layers.Activation("softsign"), [(2, 5)]),
    "activity_regularization": Case(lambda keras: keras.layers.ActivityRegularization(0.1, 0.2), [(2, 5)]),
    "masking": Case(lambda keras: keras.layers.Masking(0.0), [(2, 3, 5)]),
    "flatten": Case(lambda keras: keras.layers.Flatten(), [(2, 3, 5)]),
    "flatten_channels_first": Case(lambda keras: keras.layers.Flatten("channels_first"), [(2, 3, 5, 7)]),
    "reshape": Case(lambda keras: keras.layers.Reshape((5, 3)), [(2, 3, 5)]),
    "reshape_rest": Case(lambda keras: keras.layers.Reshape((-1, 3, 1)), [(2, 3, 5)]),
    "permute": Case(lambda keras: keras.layers.Permute((3, 1, 2)), [(2, 3, 5, 7)]),
    "repeat_vector": Case(lambda keras: keras.layers.RepeatVector(3), [(2, 5)]),
    "lambda": Case(lambda keras: keras.layers.Lambda(abs), [(2, 5)]),
    "lambda_of_many": Case(lambda keras: keras.layers.Lambda(lambda x: x[0] * x[1] + x[0]), [(2, 5), (2, 1)]),
    "add": Case(lambda keras: keras.layers.Add(), [(2, 3, 5)] * 3),
    "add_broadcast": Case(lambda keras: keras.layers.Add(), [(2, 3, 5), (2, 5), (2, 3, 1)]),
    "subtract": Case(lambda keras: keras.layers.Subtract(), [(2, 5)] * 2),
    "multiply": Case(lambda keras: keras.layers.Multiply(), [(2, 5)] * 3),
    "average": Case(lambda keras: keras.layers.Average(), [(2, 5)] * 3),
    "maximum": Case(lambda keras: keras.layers.Maximum(), [(2, 5)] * 3),
    "minimum": Case(lambda keras: keras.layers.Minimum(), [(2, 3, 5), (2, 5)]),
    "concatenate": Case(lambda keras: keras.layers.Concatenate(), [(2, 5), (2, 3), (2, 2)]),
    "concatenate_steps": Case(lambda keras: keras.layers.Concatenate(axis=1), [(2, 3, 5), (2, 7, 5)]),
    "dot_vectors": Case(lambda keras: keras.layers.Dot(1), [(2, 5)] * 2),
    "dot_cosines": Case(lambda keras: keras.layers.Dot(-1, normalize=True), [(2, 3, 5), (2, 7, 5)]),
    "dot_axes": Case(lambda keras: keras.layers.Dot((1, 2)), [(2, 3, 5), (2, 7, 3)]),
    "dot_ranks": Case(lambda keras: keras.layers.Dot((2, 1)), [(2, 3, 5), (2, 5)]),
    "attention": Case(lambda keras: keras.layers.Attention(), [(2, 3, 5), (2, 7, 5)]),
    "attention_scaled": Case(lambda keras: keras.layers.Attention(use_scale=True), [(2, 3, 5), (2, 7, 2), (2, 7, 5)]),
    "additive_attention": Case(lambda keras: keras.layers.AdditiveAttention(), [(2, 3, 5), (2, 7, 5)]),
    "additive_attention_plain": Case(lambda keras: keras.layers.AdditiveAttention(use_scale=False), [(2, 3, 5)] * 2),
    "layer_normalization": Case(lambda keras: keras.layers.LayerNormalization(), [(4, 3, 5)]),
    "layer_normalization_axes": Case(lambda keras: keras.layers.LayerNormalization(axis=[1, 2]), [(4, 3, 5)]),
    "layer_normalization_first": Case(lambda keras: keras.layers.LayerNormalization(axis=1, center=False), [(4, 3, 5)]),
    "leaky_relu": Case(lambda keras: keras.layers.LeakyReLU(), [(2, 5)]),
    "prelu": Case(lambda keras: keras.layers.PReLU(), [(2, 3, 5)]),
    "prelu_shared": Case(lambda keras: keras.layers.PReLU(shared_axes=[1]), [(2, 3, 5)]),
    "elu": Case(lambda keras: keras.layers.ELU(), [(2, 5)]),
    "elu_alpha": Case(lambda keras: keras.layers.ELU(0.3), [(2, 5)]),
    "thresholded_relu": Case(lambda keras: keras.layers.ThresholdedReLU(0.5), [(2, 5)]),
    "softmax": Case(lambda keras: keras.layers.Softmax(), [(2, 5)]),
    "softmax_axis": Case(lambda keras: keras.layers.Softmax(axis=1), [(2, 3, 5)]),
    "relu": Case(lambda keras: keras.layers.ReLU(), [(2, 5)]),
    "relu_all": Case(lambda keras: keras.layers.ReLU(1.0, 0.2, 0.3), [(2, 5)]),
    "relu_six": Case(lambda keras: keras.layers.ReLU(6.0), [(2, 5)]),
    "embedding": Case(lambda keras: keras.layers.Embedding(7, 5), [(2, 3)]),
    "embedding_masked": Case(lambda keras: keras.layers.Embedding(7, 5, mask_zero=True, input_length=3), [(2, 3)]),
    "time_distributed": Case(_masked_dense, [(2, 3, 7)]),
    "time_distributed_images": Case(
        lambda keras: keras.layers.TimeDistributed(keras.layers.Flatten()), [(2, 3, 5, 2)]
    ),
    "dropout_off": Case(lambda keras: keras.layers.Dropout(0.5), [(2, 5)]),
    "gaussian_noise_off": Case(lambda keras: keras.layers.GaussianNoise(0.5), [(2, 5)], {"training": False}),
    "gaussian_dropout_off": Case(lambda keras: keras.layers.GaussianDropout(0.5), [(2, 5)], {"training": False}),
    "alpha_dropout_off": Case(lambda keras: keras.layers.AlphaDropout(0.5), [(2, 5)]),
}  # fmt: skip
for _name, _settings in _NORMALIZED.items():
    for _training in (True, False):
        for _shape in (_FLAT_SHAPE, _FUSED_SHAPE):
            CASES[f"batch_normalization_{_name}_{len(_shape)}d_{'training' if _training else 'use'}"] = Case(
                lambda keras, settings=_settings: keras.layers.BatchNormalization(**settings),  # type: ignore[misc]
                [_shape],
                {"training": _training},
            )
CASES["batch_normalization_first"] = Case(
    lambda keras: keras.layers.BatchNormalization(axis=1, fused=False), [_FUSED_SHAPE], {"training": True}
)
CASES["batch_normalization_axes"] = Case(
    lambda keras: keras.layers.BatchNormalization(axis=[1, 2]), [(4, 3, 2)], {"training": True}
)

IDS = ("embedding", "embedding_masked")


def input_values(name: str) -> list[np.ndarray]:
    """What goes in. The first step of the first example is zero, for those who look for that."""
    random = np.random.RandomState(7)
    found = []
    for shape in CASES[name].shapes:
        values = random.randint(0, 7, shape).astype(np.int32) if name in IDS else random.randn(*shape).astype(np.float32)
        if len(shape) > 1:
            values[0, 0] = 0
        found.append(values)
    return found


def weight_values(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """Positive ones, so that they may be variances."""
    random = np.random.RandomState(11)
    return [np.asarray(random.rand(*shape) + 0.5, np.float32) for shape in shapes]


def observed(tf: Any, keras: Any, name: str) -> dict[str, Any]:
    """What a case gives in a graph of its own: names, shapes, the config, outputs, gradients, losses, masks, updates."""
    case, values = CASES[name], input_values(name)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        inputs = [
            keras.layers.Input(value.shape[1:], dtype=value.dtype.name, name=f"in{i}") for i, value in enumerate(values)
        ]
        layer = case.layer(keras)
        output = layer(inputs if len(inputs) > 1 else inputs[0], **case.call)
        session.run(tf.global_variables_initializer())
        for variable, value in zip(layer.weights, weight_values([tuple(w.shape.as_list()) for w in layer.weights])):
            variable.load(value, session)
        sources = [*(one for one in inputs if one.dtype.is_floating), *layer.trainable_weights]
        gradients = tf.gradients(tf.reduce_sum(output * output * (output + 0.5)), sources)
        dense = [tf.convert_to_tensor(gradient) for gradient in gradients if gradient is not None]
        mask = getattr(output, "_keras_mask", None)
        fed = dict(zip(inputs, values))
        found, slopes, losses = session.run([output, dense, layer.losses], fed)
        masked = None if mask is None else session.run(mask, fed)
        if layer.updates:
            session.run(layer.updates, fed)
        moved = session.run(layer.non_trainable_weights)
        config = layer.get_config()
        if config.get("function_type") == "lambda":  # its code depends on where it was written
            del config["function"], config["module"]
        return {
            "config": config,
            "weights": [[w.name, w.shape.as_list(), w.trainable] for w in layer.weights],
            "output": [output.name.split("/")[0], output.shape.as_list(), found.ravel().tolist()],
            "computed_shape": [
                None if size is None else int(size)
                for size in tf.TensorShape(layer.compute_output_shape(layer.input_shape)).as_list()
            ],
            "gradients": [
                None if g is None else list(np.shape(s)) + s.ravel().tolist() for g, s in _paired(gradients, slopes)
            ],
            "losses": [float(loss) for loss in losses],
            "mask": None if masked is None else masked.tolist(),
            "updates": len(layer.updates),
            "moved": [value.ravel().tolist() for value in moved],
        }  # fmt: skip


def _paired(gradients: list[Any], found: list[np.ndarray]) -> list[tuple[Any, np.ndarray]]:
    rest = iter(found)
    return [(gradient, next(rest) if gradient is not None else np.zeros(0)) for gradient in gradients]
