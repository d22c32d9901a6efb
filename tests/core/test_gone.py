"""Names that 1.15 no longer has tell what to use instead; those that it still has work."""

from __future__ import annotations

import pytest

import tfexp as tf
from tfexp import train


@pytest.mark.parametrize(
    ("name", "replacement"),
    [
        ("merge_all_summaries", "tf.summary.merge_all"),
        ("mul", "tf.multiply"),
        ("pack", "tf.stack"),
    ],
)
def test_gone_from_the_top_level(name: str, replacement: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': TensorFlow 1.15 has {replacement} in its place"):
        getattr(tf, name)
    assert not hasattr(tf, name)


def test_gone_from_train() -> None:
    with pytest.raises(AttributeError, match=r"'SummaryWriter': TensorFlow 1\.15 has tf\.summary\.FileWriter in its place"):
        _ = train.SummaryWriter


def test_other_names_are_just_missing() -> None:
    with pytest.raises(AttributeError, match=r"module 'tfexp' has no attribute 'no_such_thing'$"):
        _ = tf.no_such_thing


def test_old_spellings_that_still_work() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        assert tf.all_variables() == [v]
        assert tf.initialize_variables([v], name="a").name == "a"
        assert tf.initialize_local_variables().type == "NoOp"
        assert tf.initialize_all_variables().control_inputs == [v.initializer]


def test_a_star_takes_names_that_nobody_has_asked_for() -> None:
    found: dict[str, object] = {}
    exec("from tfexp import *\nfrom tfexp.api.contrib import *", found)
    assert {"Session", "float32", "saved_model", "abs", "eager"} <= set(found)
    assert not {"TYPE_CHECKING", "names_of"} & set(found)
