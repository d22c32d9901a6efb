"""Summary ops: the protos they make, and the names of tf.summary."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.ops.summary import bucket_limits, histogram_proto, histogram_summary, tensor_summary_v2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def proto(summary, feeds=None):
    with tf.Session() as session:
        return tf.Summary.FromString(session.run(summary, feeds))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64", "uint8"])
def test_scalars_of_every_real_type(dtype):
    (value,) = proto(tf.summary.scalar("loss", tf.constant(3, dtype))).value
    assert (value.tag, value.simple_value) == ("loss", 3.0)


def test_scalar_wants_one_value():
    with pytest.raises(tf.errors.InvalidArgumentError, match="tags and values not the same shape"):
        proto(tf.summary.scalar("loss", tf.constant([1.0, 2.0])))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not the same shape: \[\] != \[1\]"):
        proto(tf.summary.scalar("loss", tf.constant([1.0])))
    with pytest.raises(TypeError, match="string not in list of allowed values"):
        tf.summary.scalar("loss", tf.constant("text"))


def test_tags_follow_name_scopes_families_and_are_cleaned():
    with tf.name_scope("scope"):
        tags = [
            proto(tf.summary.scalar(name, 1.0, family=family)).value[0].tag
            for name, family in (("loss", None), ("loss", None), ("a b#c", None), ("loss", "fam"))
        ]
    assert tags == ["scope/loss", "scope/loss_1", "scope/a_b_c", "fam/scope/fam/loss"]


def test_histogram_counts_each_value_in_its_bucket():
    values = np.array([0.0, 1.0, 1.0, -3.0, 1e30, 1e-13])
    histo = histogram_proto(values)
    limits, counts = list(histo.bucket_limit), list(histo.bucket)
    assert (histo.min, histo.max, histo.num) == (-3.0, 1e30, 6)
    assert histo.sum_squares == pytest.approx(1e60)
    assert limits == sorted(limits)
    assert sum(counts) == 6
    below = [sum(c for limit, c in zip(limits, counts, strict=True) if limit <= top) for top in (-2.8, 0.0, 1e-12, 1.01)]
    assert below == [1, 1, 3, 5]
    assert set(limits) <= set(bucket_limits())


def test_histogram_of_nothing():
    histo = histogram_proto(np.zeros([0]))
    largest = np.finfo(np.float64).max
    assert (histo.min, histo.max, list(histo.bucket_limit), list(histo.bucket)) == (largest, -largest, [largest], [0.0])


@pytest.mark.parametrize(
    ("bad", "text"), [(np.nan, "Nan in summary histogram for: h"), (np.inf, "Infinity in Histogram for: h")]
)
def test_histogram_refuses_what_has_no_bucket(bad, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        proto(tf.summary.histogram("h", tf.constant([1.0, bad])))


def test_tags_are_scalars():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tags must be scalar, and have shape \[1\]"):
        proto(histogram_summary(["a"], [1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tags must be scalar, and have shape \[1\]"):
        proto(tensor_summary_v2(["a"], [1.0], ""))


def test_merging_keeps_order_and_refuses_a_tag_twice():
    a, b = tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
    assert [v.tag for v in proto(tf.summary.merge([b, a])).value] == ["b", "a"]
    assert [v.tag for v in proto(tf.summary.merge_all()).value] == ["a", "b"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found"):
        proto(tf.summary.merge([a, a]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse one of the summary inputs"):
        proto(tf.summary.merge([tf.constant("no summary")]))


def test_merge_all_of_nothing_is_none(graph):
    assert tf.summary.merge_all() is None
    tf.summary.scalar("apart", 1.0, collections=["mine"])
    assert tf.summary.merge_all() is None
    assert tf.summary.merge_all("mine") is not None


def test_tensors_and_texts_travel_whole():
    (value,) = proto(tf.summary.tensor_summary("t", tf.constant([[1, 2, 3]]))).value
    assert tf.make_ndarray(value.tensor).tolist() == [[1, 2, 3]]
    (value,) = proto(tf.summary.text("note", tf.constant(["a", "b"]))).value
    assert list(value.tensor.string_val) == [b"a", b"b"]
    assert value.metadata.plugin_data.plugin_name == "text"
    with pytest.raises(ValueError, match="to have dtype string"):
        tf.summary.text("note", tf.constant(1.0))


@pytest.mark.parametrize("dtype", ["float16", "float32", "int64"])
def test_single_numbers_travel_as_bytes(dtype):
    number = np.array(2, dtype)
    v2 = tf.raw_ops.TensorSummaryV2(tag="t", tensor=number, serialized_summary_metadata="")
    for summary in (tf.raw_ops.TensorSummary(tensor=number), v2):
        assert proto(summary).value[0].tensor.tensor_content == number.tobytes()


def test_a_node_describes_its_summary():
    made = tf.raw_ops.TensorSummary(tensor=[1.0, 2.0], description='{"typeHint": "scalar"}', name="a/b")
    with tf.Session() as session:
        value = tf.Summary.FromString(session.run(made)).value[0]
    assert value.node_name == "a/b"
    assert tf.make_ndarray(value.tensor).tolist() == [1, 2]
    described = tf.summary.get_summary_description(made.op.node_def)
    assert described == tf.summary.SummaryDescription(type_hint="scalar")
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)
