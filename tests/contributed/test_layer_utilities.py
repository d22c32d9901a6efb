"""`tf.contrib.slim.utils`: outputs by name, and the arguments of layers."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

utils = tf.contrib.slim.utils


def test_end_points_are_the_outputs_that_layers_and_networks_collect():
    with tf.Graph().as_default():
        with tf.variable_scope("net"):
            hidden = tf.contrib.slim.fully_connected(tf.ones([1, 2]), 3, outputs_collections="ends", scope="hidden")
            own = utils.collect_named_outputs(["ends", "others"], "net/own", tf.identity(hidden))
        assert utils.collect_named_outputs(None, "nowhere", own) is own and own.aliases == ["net/own"]
        plain = tf.constant(1.0, name="plain")
        assert utils.gather_tensors_aliases([utils.append_tensor_alias(own, "more/"), plain]) == ["net/own", "more", "plain"]
        found = utils.convert_collection_to_dict("ends", clear_collection=True)
        assert found == {"net/hidden": hidden, "net/own": own, "more": own}
        assert tf.get_collection("ends") == [] and tf.get_collection("others") == [own]


def test_what_is_known():
    with tf.Graph().as_default():
        assert utils.constant_value(tf.constant(3)) == 3 and utils.constant_value(5) == 5
        assert utils.constant_value(tf.Variable(1)) is None
        assert utils.smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2 == utils.static_cond(0, lambda: 1, lambda: 2)
        chosen = utils.smart_cond(tf.placeholder_with_default(True, []), lambda: tf.constant(1), lambda: tf.constant(2))
        assert tf.Session().run(chosen) == 1
        with pytest.raises(ValueError, match="cannot be None"):
            utils.constant_value(None)
        with pytest.raises(ValueError, match="wrong type"):
            utils.constant_value(tf.constant(1.0), tf.int32)


def test_arguments_of_layers():
    assert utils.two_element_tuple(3) == (3, 3) and utils.n_positive_integers(2, tf.TensorShape([1, 2])) == (1, 2)
    assert utils.last_dimension(tf.TensorShape([None, 3])) == 3
    assert utils.get_variable_collections({"a": ["x"]}, "a") == ["x"] == utils.get_variable_collections(["x"], "a")
    for n, value in ((0, 1), (2, [1, 2, 3]), (2, [1, 0]), (2, -1), (2, "a"), (1, tf.TensorShape([None]))):
        with pytest.raises(ValueError, match="positive integer"):
            utils.n_positive_integers(n, value)
    for shape, min_rank in ((None, 1), ([2, None], 1), ([2], 3)):
        with pytest.raises(ValueError, match=r"last dimension|rank of shape"):
            utils.last_dimension(tf.TensorShape(shape), min_rank)


def test_under_the_name_of_the_module():
    module = stand_for("tensorflow.contrib.layers.python.layers.utils")
    assert module is not None and module.collect_named_outputs is utils.collect_named_outputs
