"""`model=layers`: each kind of layer gives the shape that it says, and a wrong entry is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import yaml

import tfexp as tf
from tfexp.experiment.datasets.dataset import Spec
from tfexp.experiment.errors import SettingError
from tfexp.experiment.models.layer_kinds import KINDS, parse
from tfexp.experiment.models.layers import Layers

BAD: dict[str, str] = {
    "[{dense: 64}, {dropout: 1.5}]": "layers[1].dropout.rate: 1.5 must be below 1",
    "[{dnse: 64}]": "layers[0]: there is no layer 'dnse'; did you mean 'dense'? The choices are: average_pool, batch_norm, "
    "conv, dense, dropout, elu, flatten, leaky_relu, lstm, max_pool, relu, reshape, sigmoid, tanh",
    "[{conv: 8}]": "layers[0].conv: takes images [height, width, channels] and gets [64]: put {reshape: [height, width, "
    "channels]} before it",
    "[{dense: {units: 3, unts: 4}}]": "layers[0].dense.unts: there is no setting 'unts'; did you mean 'units'? "
    "The choices are: l2, units",
    "[{dense: big}]": "layers[0].dense.units: 'big' is not a whole number",
    "[{dense: true}]": "layers[0].dense.units: True is not a whole number",
    "[{dense: null}]": "layers[0].dense.units: null is not a whole number",
    "[dense]": "layers[0].dense.units: a whole number must be given",
    "[{relu: 2}]": "layers[0].relu: has no settings and gets 2",
    "[[3]]": "layers[0]: [3] is not a layer such as relu, {dense: 64} or {conv: {filters: 8, kernel: 5}}",
    "[{reshape: 8}]": "layers[0].reshape.to: 8 is not a list, each item a whole number",
    "[{reshape: [8, x]}]": "layers[0].reshape.to[1]: 'x' is not a whole number",
    "[{reshape: [8, 9]}]": "layers[0].reshape: [8, 9] has 72 numbers and gets 64 ([64])",
    "[{reshape: [8, 8, 1]}, {max_pool: 9}]": "layers[1].max_pool: is 9x9 and gets an image of 8x8",
    "[{reshape: [8, 8]}]": "layers: the last gives [8, 8] and the outputs take rows of numbers: put flatten after it",
    "[{reshape: [8, 8, 1]}, {dense: 3}]": "layers[1].dense: takes rows of numbers and gets [8, 8, 1]: put flatten before it",
    "[{lstm: 3}]": "layers[0].lstm: takes sequences [pieces, width] and gets [64]: put {reshape: …} before it",
    "[{conv: {filters: 2, padding: sme}}]": "layers[0].conv.padding: there is no choice 'sme'; did you mean 'same'? "
    "The choices are: same, valid",
}


@pytest.mark.parametrize("layers", BAD)
def test_a_wrong_entry_is_named(layers: str) -> None:
    with pytest.raises(SettingError) as caught:
        Layers(layers=tuple(yaml.safe_load(layers))).check(Spec(64, 10))
    assert str(caught.value).removeprefix("model.") == BAD[layers]


def test_the_command_line_says_it_in_one_line(cli: Callable[..., Any]) -> None:
    for layers, said in (
        ("[{dense:64},{dropout:1.5}]", "[1].dropout.rate: 1.5 must be below 1"),
        ("3", ": '3' is not a list"),
    ):
        ended = cli("model=layers", f"model.layers={layers}")
        assert (ended.code, ended.err) == (2, f"tfexp: model.layers{said}\n")


SHAPES: dict[str, list[tuple[Any, tuple[int, ...], tuple[int, ...]]]] = {
    "average_pool": [(3, (7, 11, 2), (2, 3, 2))],
    "batch_norm": [({"momentum": 0.5}, (5,), (5,)), (None, (5, 7, 3), (5, 7, 3))],
    "conv": [
        (3, (7, 11, 2), (7, 11, 3)),
        ({"filters": 5, "kernel": 2, "stride": 3}, (7, 11, 2), (3, 4, 5)),
        ({"filters": 5, "kernel": 2, "stride": 3, "padding": "valid"}, (7, 11, 2), (2, 4, 5)),
    ],
    "dense": [({"units": 3, "l2": 0.1}, (7,), (3,))],
    "dropout": [(0.5, (7, 2), (7, 2)), (0, (7,), (7,))],
    "elu": [(None, (7,), (7,))],
    "flatten": [(None, (7, 2, 3), (42,))],
    "leaky_relu": [(0.1, (7,), (7,))],
    "lstm": [(5, (7, 3), (5,)), ({"units": 5, "every": True}, (7, 3), (7, 5))],
    "max_pool": [(None, (7, 11, 2), (3, 5, 2))],
    "relu": [(None, (7,), (7,))],
    "reshape": [([3, 7], (21,), (3, 7))],
    "sigmoid": [(None, (7,), (7,))],
    "tanh": [(None, (7,), (7,))],
}


def test_every_kind_gives_the_shape_that_it_says() -> None:
    assert SHAPES.keys() == KINDS.keys()
    for name, cases in SHAPES.items():
        for number, (settings, before, after) in enumerate(cases):
            _, layer = parse(name if settings is None else {name: settings})
            assert layer.shape(before) == after, (name, settings)
            with tf.Graph().as_default():
                tf.train.get_or_create_global_step()
                inputs = tf.placeholder(tf.float32, [None, *before])
                outputs = layer.make(inputs, f"{number}_{name}")
                assert outputs.get_shape().as_list()[1:] == list(after), (name, settings)
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    made = session.run(outputs, {inputs: np.ones([3, *before], np.float32)})
            assert made.shape == (3, *after), (name, settings)
            assert np.isfinite(made).all()
