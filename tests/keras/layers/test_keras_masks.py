"""Masks: who makes them, and what becomes of them on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.keras import layers as L
from tfexp.runtime.eager import eager_mode

IDS = np.array([[1, 2, 0, 0], [3, 0, 1, 2], [0, 0, 0, 5]])


def _mask_of(build: Any) -> Any:
    """The mask that `build(ids)` ends with, run on IDS; None for none."""
    with tf.Graph().as_default(), tf.Session() as session:
        ids = L.Input((4,), dtype="int32")
        mask = getattr(build(ids), "_keras_mask", None)
        session.run(tf.global_variables_initializer())
        return None if mask is None else session.run(mask, {ids: IDS})


def _embedded(ids: Any) -> Any:
    return L.Embedding(7, 5, mask_zero=True)(ids)


def test_layers_that_work_step_by_step_hand_a_mask_on() -> None:
    chain = [
        L.Dropout(0.5), L.Activation("tanh"), L.GaussianNoise(0.1), L.LeakyReLU(), L.LayerNormalization(),
        L.BatchNormalization(), L.TimeDistributed(L.Dense(3)), L.Dense(2), L.ActivityRegularization(0.1),
    ]  # fmt: skip

    def build(ids: Any) -> Any:
        x = _embedded(ids)
        for layer in chain:
            x = layer(x)
        return x

    with tf.Graph().as_default():
        chain = [type(layer).from_config(layer.get_config()) for layer in chain]
    np.testing.assert_array_equal(_mask_of(build), IDS != 0)


def test_a_flag_of_the_embedding_says_whether_there_is_a_mask() -> None:
    assert _mask_of(lambda ids: L.Embedding(7, 5)(ids)) is None


@pytest.mark.parametrize(("layer", "kept"), [(L.ReLU, False), (L.LeakyReLU, True), (L.ELU, True), (L.PReLU, True)])
def test_of_the_activations_relu_alone_drops_a_mask(layer: Any, kept: bool) -> None:
    assert (_mask_of(lambda ids: layer()(_embedded(ids))) is not None) is kept


def test_merged_masks_keep_what_all_keep() -> None:
    def build(ids: Any) -> Any:
        other = L.Masking(0.0)(L.Lambda(lambda x: tf.cast(x > 1, tf.float32)[:, :, None] * tf.ones([5]))(ids))
        return L.add([_embedded(ids), other])

    np.testing.assert_array_equal(_mask_of(build), (IDS != 0) & (IDS > 1))


def test_what_has_no_mask_is_kept_in_merging() -> None:
    def build(ids: Any) -> Any:
        return L.add([_embedded(ids), L.Embedding(7, 5)(ids)])

    np.testing.assert_array_equal(_mask_of(build), IDS != 0)


def test_concatenated_features_are_kept_where_all_are() -> None:
    def build(ids: Any) -> Any:
        return L.concatenate([_embedded(ids), L.Embedding(7, 3)(ids), _embedded(ids)])

    np.testing.assert_array_equal(_mask_of(build), IDS != 0)


def test_masked_steps_are_zero() -> None:
    steps = np.array([[[1.0, 0.0], [5.0, 5.0], [0.0, 2.0]]], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((3, 2))
        y = L.Masking(5.0)(x)
        values, mask = session.run([y, y._keras_mask], {x: steps})
    np.testing.assert_array_equal(values, steps * [[[1], [0], [1]]])
    np.testing.assert_array_equal(mask, [[True, False, True]])


def test_a_layer_says_by_step_what_is_masked() -> None:
    """Words of sentences: a sentence is a step, and the layer inside masks words."""
    words = np.array([[[1, 0, 2], [0, 0, 0]]])
    with tf.Graph().as_default(), tf.Session() as session:
        x = L.Input((2, 3), dtype="int32")
        y = L.TimeDistributed(L.Embedding(7, 5, mask_zero=True))(x)
        np.testing.assert_array_equal(session.run(y._keras_mask, {x: words}), words != 0)
        whole = L.TimeDistributed(L.Dense(3)).compute_mask(y, y._keras_mask)
        np.testing.assert_array_equal(session.run(whole, {x: words}), words != 0)


def test_attention_leaves_masked_values_out() -> None:
    random = np.random.RandomState(1)
    query, value = random.randn(1, 2, 5).astype(np.float32), random.randn(1, 3, 5).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        masked = L.Attention()(
            [tf.constant(query), tf.constant(value)], mask=[tf.constant([[True, False]]), tf.constant([[True, True, False]])]
        )
        causal = L.Attention(causal=True)([tf.constant(value)] * 2)
        found, seen = session.run([masked, causal])
    scores = query[0] @ value[0, :2].T
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    np.testing.assert_allclose(found[0, 0], (weights @ value[0, :2])[0], rtol=1e-5)
    np.testing.assert_array_equal(found[0, 1], np.zeros(5))
    np.testing.assert_allclose(seen[0, 0], value[0, 0], rtol=1e-5)
    last = np.exp(value[0] @ value[0, 2])
    np.testing.assert_allclose(seen[0, 2], last @ value[0] / last.sum(), rtol=1e-5)


def test_numbers_serve_as_masks_in_merging() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        inputs, masks = [L.Input((3,))] * 2, [tf.constant([[1.0, 0.0, 2.0]]), tf.constant([[1.0, 1.0, 0.0]])]
        found = session.run(L.Add().compute_mask(inputs, masks))
    np.testing.assert_array_equal(found, [[True, False, False]])


@pytest.mark.parametrize("layer", [L.Lambda(lambda inputs: inputs), L.Layer()])
def test_where_ops_run_at_once_a_mask_stays_with_what_is_handed_through(layer: Any) -> None:
    with eager_mode():
        steps = tf.constant([[[1.0], [0.0]]])
        masked = L.Masking()(steps)
        assert layer(masked) is masked and masked._keras_mask.numpy().tolist() == [[True, False]]
        model = tf.keras.Sequential([L.Masking(input_shape=(2, 1)), layer])
        mask = tf.keras.backend.function(model.inputs, [model.layers[1].output._keras_mask])
        assert mask([steps])[0].tolist() == [[True, False]]
