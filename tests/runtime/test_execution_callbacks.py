"""What is called after each op of eager execution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import tfexp as tf
from tfexp.runtime import execution_callbacks as callbacks
from tfexp.runtime.eager import eager_mode


@pytest.fixture(autouse=True)
def _eagerly() -> Iterator[None]:
    with eager_mode():
        yield
    callbacks.clear_execution_callbacks()


def test_each_op_is_told():
    seen: list[Any] = []
    callbacks.add_execution_callback(lambda *call: seen.append(call))
    x = tf.constant([1.0, 2.0])
    halves = tf.split(x, 2, name="halves")
    callbacks.clear_execution_callbacks()
    tf.add(1, 2)
    ((kind, inputs, attrs, outputs, name),) = [call for call in seen if call[0] == "Split"]
    assert (kind, len(inputs), name) == ("Split", 2, "halves") and inputs[1] is x
    assert dict(zip(attrs[::2], attrs[1::2], strict=True))["num_split"] == 2
    assert all(one is other for one, other in zip(outputs, halves, strict=True))


def test_each_thread_has_its_own():
    seen: list[str] = []
    callbacks.seterr("raise")
    callbacks.add_execution_callback(lambda kind, *of: seen.append(kind))

    def of_another():
        with eager_mode():
            before = callbacks.seterr("ignore")
            return before, float(tf.math.log(tf.constant(0.0)))

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(of_another).result() == ({"inf_or_nan": callbacks.ExecutionCallback.IGNORE}, -math.inf)
    assert seen == []
    with pytest.raises(callbacks.InfOrNanError):
        tf.math.log(tf.constant(0.0))


def test_infinities_and_nan_are_found():
    assert callbacks.seterr("raise") == {"inf_or_nan": callbacks.ExecutionCallback.IGNORE}
    text = r"Output 1 of 1 of TFE operation Log \(name: 'Log'\) contains 1 nan\(s\) out of a total of 2 element\(s\)"
    with pytest.raises(callbacks.InfOrNanError, match=text) as caught:
        tf.math.log(tf.constant([-1.0, 1.0]))
    error = caught.value
    assert (error.op_type, error.op_name, error.output_index, error.num_outputs) == ("Log", "Log", 0, 1)
    with callbacks.errstate("ignore"):
        assert tf.math.log(tf.constant(0.0)).numpy() == -float("inf")
    with pytest.raises(callbacks.InfOrNanError, match=r"contains 1 inf\(s\)"):
        tf.math.log(tf.constant(0.0))
    assert callbacks.seterr() == {"inf_or_nan": callbacks.ExecutionCallback.RAISE}
    with pytest.raises(ValueError, match="'nope' is not a valid ExecutionCallback"):
        callbacks.seterr("nope")


def test_said_in_other_ways(capsys):
    with callbacks.errstate(callbacks.ExecutionCallback.PRINT):
        tf.math.log(tf.constant(0.0))
    assert capsys.readouterr().out.startswith("Warning: Output 1 of 1 of TFE operation Log")
    with callbacks.errstate("warn"):
        tf.math.log(tf.constant(0.0))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("callback", "bad", "good"), [("inf_callback", 0.0, -1.0), ("nan_callback", -1.0, 0.0)])
def test_one_of_both(callback, bad, good):
    callbacks.add_execution_callback(getattr(callbacks, callback))
    tf.math.log(tf.constant(good))
    tf.cast(tf.constant(good), tf.int32)
    with pytest.raises(callbacks.InfOrNanError):
        tf.math.log(tf.constant(bad))
