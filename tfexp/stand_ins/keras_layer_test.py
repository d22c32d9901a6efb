"""`layer_test`: what every layer with one input and one output has to do. Source: `testing_utils` of Keras, TF 1.15."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfexp.core import dtypes
from tfexp.core.shape import TensorShape
from tfexp.graph.type_spec import TensorSpec
from tfexp.keras.engine.input_layer import Input
from tfexp.keras.engine.model import Model
from tfexp.keras.engine.sequential import Sequential
from tfexp.stand_ins.keras_tests import asked_to_run_eagerly, should_run_eagerly


def layer_test(
    layer_cls: Any,
    kwargs: dict[str, Any] | None = None,
    input_shape: Sequence[int | None] | None = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> np.ndarray:
    """Call a layer in a model, make model and layer again from their configurations, train; the outputs must agree.

    input_shape: with the batch; None is any size. input_data: random examples by default. adapt_data: what its `adapt` is
    called with. Returns the output. AssertionError for what does not agree, ValueError without a shape.
    """
    if input_data is None:
        if input_shape is None:
            raise ValueError("input_shape is None")
        input_data = _examples(input_shape, input_dtype or "float32")
    shape = TensorShape(input_data.shape if input_shape is None else input_shape)
    dtype = dtypes.as_dtype(input_dtype or input_data.dtype)
    kwargs = kwargs or {}
    about = f"When testing layer {layer_cls.__name__} with {kwargs}, for input of shape {shape}: "

    layer = layer_cls(**kwargs)
    if adapt_data is not None:
        layer.adapt(adapt_data)
    layer.set_weights(layer.get_weights())
    x = Input(shape.as_list()[1:], dtype=dtype.name)
    y = layer(x)
    expected_dtype = dtypes.as_dtype(expected_output_dtype or dtype)
    assert y.dtype.base_dtype is expected_dtype, f"{about}the output is {y.dtype.name}, not {expected_dtype.name}"
    if expected_output_shape is not None:
        _check_shape(expected_output_shape, y.shape, about)

    model = Model(x, y)
    output = model.predict(input_data)
    inferred = layer.compute_output_shape(shape)
    signature = layer.compute_output_signature(TensorSpec(shape, dtype))
    _check_shape(inferred, output.shape, about)
    _check_shape(signature.shape, output.shape, about)
    assert signature.dtype == output.dtype, f"{about}the output is {output.dtype}, its signature says {signature.dtype}"
    _check_again(model, Model, input_data, output, expected_output)

    if validate_training:
        trained = Model(x, layer(x))
        eagerly = {} if asked_to_run_eagerly() is None else {"run_eagerly": should_run_eagerly()}
        trained.compile("rmsprop", "mse", weighted_metrics=["acc"], **eagerly)
        trained.train_on_batch(input_data, output)

    again = type(layer).from_config({**layer.get_config(), "batch_input_shape": tuple(shape.as_list())})
    if adapt_data is not None:
        again.adapt(adapt_data)
    chain = Sequential([again])
    output = chain.predict(input_data)
    _check_shape(inferred, output.shape, f"{about}(after deserialization) ")
    _check_again(chain, Sequential, input_data, output, expected_output)
    return np.asarray(output)


def _examples(shape: Sequence[int | None], dtype: str) -> np.ndarray:
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]
    lowest = 0.5 if dtype.startswith("float") else 0.0
    return np.asarray(10 * np.random.random(sizes) - lowest).astype(dtype)


def _check_shape(expected: Any, found: Any, about: str) -> None:
    wanted, actual = TensorShape(expected), TensorShape(found)
    assert wanted.is_compatible_with(actual), f"{about}the output has shape {actual}, not {wanted}"


def _check_again(model: Any, made_by: Any, data: Any, output: Any, expected: Any) -> None:
    """The output is what was expected, and that of a model from the configuration, with the same weights."""
    if expected is not None:
        np.testing.assert_allclose(output, expected, rtol=1e-3, atol=1e-6)
    again = made_by.from_config(model.get_config())
    if model.weights:
        again.set_weights(model.get_weights())
        np.testing.assert_allclose(again.predict(data), output, rtol=1e-3, atol=1e-6)
