"""`Lambda`: what its function gets, what it keeps of it, what shape comes out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import layers as L

VALUES = np.array([[1.0, -2.0, 3.0]], np.float32)


def scaled(x: Any, by: float = 2.0) -> Any:
    return x * by


def _outcome(layer: Any) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((3,))
        found: np.ndarray = session.run(layer(x), {x: VALUES})
        return found


def _again(layer: Any, **kwargs: Any) -> Any:
    """The layer of the config, by way of JSON."""
    return L.Lambda.from_config(json.loads(json.dumps(layer.get_config())), **kwargs)


def test_functions_are_kept_as_code() -> None:
    offset = 5.0
    for layer, wanted in [
        (L.Lambda(scaled), VALUES * 2),
        (L.Lambda(scaled, arguments={"by": 3.0}), VALUES * 3),
        (L.Lambda(lambda x: x + offset), VALUES + 5),
        (L.Lambda(lambda x, add=(1.0, 2.0, 3.0): x + tf.constant(add)), VALUES + np.arange(1, 4)),
    ]:
        np.testing.assert_allclose(_outcome(layer), wanted)
        np.testing.assert_allclose(_outcome(_again(layer)), wanted)


def test_functions_with_a_name_are_found_by_it() -> None:
    layer = L.Lambda(abs)
    assert layer.get_config()["function_type"] == "function"
    np.testing.assert_allclose(_outcome(_again(layer)), abs(VALUES))
    config = {**layer.get_config(), "function": "mine"}
    np.testing.assert_allclose(_outcome(L.Lambda.from_config(config, custom_objects={"mine": scaled})), VALUES * 2)


def test_arrays_among_the_arguments_come_back() -> None:
    config = L.Lambda(scaled).get_config()
    config["arguments"] = {"by": {"type": "ndarray", "value": [1.0, 2.0, 3.0]}}
    np.testing.assert_allclose(_outcome(L.Lambda.from_config(config)), VALUES * [1, 2, 3])


def test_code_that_cannot_be_read_says_so() -> None:
    config = {**L.Lambda(scaled).get_config(), "function": ("AAAA", None, None)}
    with pytest.raises(ValueError, match="another version of Python"):
        L.Lambda.from_config(config)
    with pytest.raises(TypeError, match="Unknown function type: strange"):
        L.Lambda.from_config({**L.Lambda(scaled).get_config(), "function_type": "strange"})
    with pytest.warns(UserWarning, match=r"nowhere\.to_be_found is not loaded"):
        L.Lambda.from_config({**L.Lambda(scaled).get_config(), "module": "nowhere.to_be_found"})


def test_shapes_are_said_or_found() -> None:
    with tf.Graph().as_default():
        assert L.Lambda(lambda x: x[:, :1]).compute_output_shape((None, 3)).as_list() == [None, 1]
        assert L.Lambda(lambda x: x, output_shape=(5,)).compute_output_shape((7, 3)).as_list() == [7, 5]
        assert L.Lambda(lambda x: x, output_shape=lambda shape: shape[:1]).compute_output_shape((7, 3)) == (7,)
        many = L.Lambda(lambda x: [x[0], x[1]], output_shape=[(1,), (2,)])
        assert [s.as_list() for s in many.compute_output_shape([(7, 1), (7, 2)])] == [[7, 1], [7, 2]]
        with pytest.raises(NotImplementedError, match="say it as `output_shape`"):
            L.Lambda(lambda x: tf.matmul(x, tf.ones([2, 2]))).compute_output_shape((None, 3))


def test_it_hears_of_masks_and_phases() -> None:
    seen: list[Any] = []

    def listen(x: Any, mask: Any, training: Any = None) -> Any:
        seen.append((mask, training))
        return x

    with tf.Graph().as_default():
        masked = L.Masking()(L.Input((3, 2)))
        y = L.Lambda(listen, mask=lambda inputs, mask: None)(masked, training=True)
        assert seen[-1][0] is masked._keras_mask
        assert seen[-1][1] is True
        assert getattr(y, "_keras_mask", None) is None
        kept = tf.constant([[True]])
        assert L.Lambda(scaled, mask=kept)(masked)._keras_mask is kept


def test_variables_that_it_makes_are_its_own() -> None:
    def weighed(x: Any) -> Any:
        return x * tf.get_variable("weight", [3], initializer=tf.ones_initializer(), use_resource=True)

    def biased(x: Any) -> Any:
        return x + tf.Variable([1.0, 2.0, 3.0], name="bias", use_resource=True)

    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((3,))
        layers = [L.Lambda(weighed), L.Lambda(biased)]
        outputs = [layer(x) for layer in layers]
        again = layers[1](x)
        assert [len(layer.trainable_weights) for layer in layers] == [1, 1]
        session.run(tf.global_variables_initializer())
        found = session.run([*outputs, again], {x: VALUES})
    np.testing.assert_allclose(found, [VALUES, VALUES + np.arange(1, 4), VALUES + np.arange(1, 4)])


def test_the_backend_is_k_in_a_process_that_does_not_have_the_module() -> None:
    layer = L.Lambda(eval("lambda x: K.square(x) + np.float32(1)", {"K": tf.keras.backend, "np": np}))
    layer.function.__module__ = "not_imported_here"
    with pytest.warns(UserWarning, match="not_imported_here"):
        again = _again(layer)
    np.testing.assert_array_equal(_outcome(again), VALUES**2 + 1)
