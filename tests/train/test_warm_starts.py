"""Variables that begin with those of a trained model."""

import numpy as np
import pytest

import tfexp as tf


def words(path, text):
    path.write_text("".join(f"{word}\n" for word in text.split()))
    return str(path)


@pytest.fixture
def trained(tmp_path):
    """A checkpoint: `table` [4, 2] for the words of `old`, `heads` [2, 3], `bias` [2] and a global step."""
    values = {"table": np.arange(8.0).reshape(4, 2), "heads": np.arange(6.0).reshape(2, 3), "bias": np.array([3.0, 5.0])}
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in values.items():
            tf.get_variable(name, initializer=value.astype(np.float32))
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, str(tmp_path / "model"))
    return str(tmp_path), values, words(tmp_path / "old", "a b c d")


def variables(*, parts=1):
    with tf.variable_scope("", partitioner=None if parts == 1 else tf.fixed_size_partitioner(parts)):
        table = tf.get_variable("table", [5, 2], initializer=tf.ones_initializer())
    heads = tf.get_variable("heads", [2, 3], initializer=tf.zeros_initializer())
    return table, heads, tf.get_variable("bias", [2], initializer=tf.zeros_initializer())


@pytest.mark.parametrize("parts", [1, 2])
def test_words_are_found_in_the_old_vocabulary(parts, trained, tmp_path):
    folder, values, old = trained
    rows = tf.train.VocabInfo(words(tmp_path / "new", "c new a more"), 3, 2, old, 3, tf.constant_initializer(-1.0))
    with tf.Graph().as_default(), tf.Session() as session:
        table, heads, bias = variables(parts=parts)
        tf.train.warm_start(folder, var_name_to_vocab_info={"table": rows})
        session.run(tf.global_variables_initializer())
        expected = [values["table"][2], [-1, -1], values["table"][0], [-1, -1], [-1, -1]]
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(table)), expected)
        np.testing.assert_array_equal(session.run(heads), values["heads"])
        np.testing.assert_array_equal(session.run(bias), values["bias"])


def test_columns_and_other_names(trained, tmp_path):
    folder, values, old = trained
    columns = tf.train.VocabInfo(words(tmp_path / "new", "x b"), 2, 0, old, 3, axis=1)
    with tf.Graph().as_default(), tf.Session() as session:
        mine = tf.get_variable("mine", [2, 2], initializer=tf.ones_initializer())
        shift = tf.get_variable("shift", [2], initializer=tf.zeros_initializer(), trainable=False)
        own = tf.get_variable("own", [2], initializer=tf.ones_initializer())
        tf.train.warm_start(
            folder, ["mine", shift], {"mine": columns}, var_name_to_prev_var_name={"mine": "heads", "shift": "bias"}
        )
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(mine), np.stack([[0, 0], values["heads"][:, 1]], axis=1))
        np.testing.assert_array_equal(session.run(shift), values["bias"])
        np.testing.assert_array_equal(session.run(own), [1, 1])


@pytest.mark.parametrize(
    ("wanted", "begun"), [(".*", {"bias", "heads"}), ("bia", {"bias"}), (["heads"], {"heads"}), (None, set())]
)
def test_which_variables(wanted, begun, trained):
    folder, *_ = trained
    with tf.Graph().as_default(), tf.Session() as session:
        found = {
            name: tf.get_variable(name, [2, 3][: 1 + (name == "heads")], initializer=tf.zeros_initializer())
            for name in ("bias", "heads")
        }
        tf.train.warm_start(folder, wanted)
        session.run(tf.global_variables_initializer())
        assert {name for name, variable in found.items() if session.run(variable).any()} == begun


def test_what_cannot_be_is_refused(trained, tmp_path):
    folder, _, old = trained
    with tf.Graph().as_default():
        variables()
        with pytest.raises(ValueError, match="in var_name_to_prev_var_name that were not used: tabel"):
            tf.train.warm_start(folder, var_name_to_prev_var_name={"tabel": "table"})
        short = tf.train.VocabInfo(old, 4, 2, old)
        with pytest.raises(
            ValueError, match=r"table has 5 in dimension 0, and its vocabulary .* has 4 words and 2 buckets: 6"
        ):
            tf.train.warm_start(folder, None, {"table": short})
        with pytest.raises(ValueError, match="must be a list or str"):
            tf.train.warm_start(folder, vars_to_warm_start=3)
        with pytest.raises(ValueError, match="has 4 words, and 9 were to be taken"):
            tf.train.warm_start(folder, None, {"table": short._replace(new_vocab_size=9)})


def test_without_a_choice_variables_with_a_vocabulary_are_taken_alone(trained):
    folder, values, old = trained
    with tf.Graph().as_default(), tf.Session() as session:
        table, heads, bias = variables()
        rows = tf.train.VocabInfo(old, 4, 1, old)
        tf.train.warm_start(folder, None, {"table": rows}, {"heads": "not in the checkpoint"})
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(table)[:4], values["table"])
        assert not session.run(heads).any() and not session.run(bias).any()
