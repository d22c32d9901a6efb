"""`tf.train.Saver`: what is saved under which key, what comes back, which checkpoints stay, and what is refused."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfexp as tf
from tfexp.core import errors
from tfexp.formats import checkpoint_state
from tfexp.train.checkpoint_utils import print_tensors_in_checkpoint_file


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def indices(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.index"))


@pytest.fixture
def variables() -> tuple[Any, Any]:
    return tf.Variable([1.0, 2.0], name="a"), tf.Variable(3, name="scope/b")


# --- values ------------------------------------------------------------------------------------------------------


def test_values_come_back_without_initialization(tmp_path: Path, variables: tuple[Any, Any]) -> None:
    a, b = variables
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        session.run([a.assign([7.0, 7.0]), b.assign(7)])
        saver.restore(session, path)
        assert session.run(a).tolist() == [1.0, 2.0]
    assert path == str(tmp_path / "m")
    assert names(tmp_path) == ["checkpoint", "m.data-00000-of-00001", "m.index", "m.meta"]
    with tf.Session() as session:
        saver.restore(session, path)
        assert session.run(b) == 3
        assert session.run(tf.report_uninitialized_variables()).tolist() == []


@pytest.mark.parametrize(
    "dtype",
    [tf.float32, tf.float64, tf.float16, tf.bfloat16, tf.int8, tf.int64, tf.uint16, tf.bool, tf.complex64, tf.string],
    ids=lambda d: d.name,
)
def test_every_dtype(tmp_path: Path, dtype: Any) -> None:
    if dtype is tf.string:
        value = np.array([[b"a", b"", b"\x00b"], [b"x" * 300, b"y", b"z"]], object)
    else:
        value = np.array([[0, 1, 2], [3, 4, 5]]).astype(dtype.as_numpy_dtype)
    v = tf.Variable(tf.constant(value, dtype), name="v")
    empty = tf.Variable(tf.zeros([0, 3], dtype), name="empty")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"), write_meta_graph=False)
    with tf.Session() as session:
        saver.restore(session, path)
        np.testing.assert_array_equal(session.run(v), value)
        assert session.run(empty).shape == (0, 3)


def test_keys_and_subsets(tmp_path: Path, variables: tuple[Any, Any]) -> None:
    a, b = variables
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number, source in enumerate(([b], {"other": a, "b": b}, (a, b), {a})):
            tf.train.Saver(source).save(session, str(tmp_path / str(number)), write_meta_graph=False)
    keys = [[key for key, _ in tf.train.list_variables(str(tmp_path / str(n)))] for n in range(4)]
    assert keys == [["scope/b"], ["b", "other"], ["a", "scope/b"], ["a"]]


def test_two_variables_swapped(tmp_path: Path) -> None:
    """The example of the notes: saved as v1 and v2, restored crosswise."""
    v1 = tf.Variable(tf.constant(1.0, shape=[1]), name="other-v1")
    v2 = tf.Variable(tf.constant(2.0, shape=[1]), name="other-v2")
    path = str(tmp_path / "m")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver({"v1": v1, "v2": v2}).save(session, path)
        tf.train.Saver({"v1": v2, "v2": v1}).restore(session, path)
        assert [v.tolist() for v in session.run([v1, v2])] == [[2.0], [1.0]]


def test_a_partitioned_variable_and_its_whole(tmp_path: Path) -> None:
    whole = np.arange(35, dtype=np.float32).reshape(7, 5)
    path = str(tmp_path / "m")
    with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(3)):
        parts = tf.get_variable("w", initializer=lambda shape, dtype, partition_info: _part(whole, shape, partition_info),
                                shape=[7, 5])  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(parts)), whole)
        tf.train.Saver().save(session, path, write_meta_graph=False)
    assert tf.train.list_variables(path) == [("s/w", [7, 5])]
    np.testing.assert_array_equal(tf.train.load_variable(path, "s/w"), whole)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("s"):
            one = tf.get_variable("w", [7, 5])
        tf.train.Saver().restore(session, path)
        np.testing.assert_array_equal(session.run(one), whole)
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(2, axis=1)):
            other = tf.get_variable("w", [7, 5])
        tf.train.Saver().restore(session, path)
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor(other)), whole)


def _part(whole: np.ndarray, shape: Any, partition_info: Any) -> Any:
    corner = partition_info.var_offset
    return tf.constant(whole[tuple(slice(o, o + int(n)) for o, n in zip(corner, shape, strict=True))])


def test_shards(tmp_path: Path, variables: tuple[Any, Any]) -> None:
    with tf.device("/cpu:0"):
        c = tf.Variable(tf.fill([2, 3], 5.0), name="c")
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"), global_step=7, write_meta_graph=False)
        session.run(c.assign(tf.zeros([2, 3])))
        saver.restore(session, path)
        assert session.run(c).tolist() == [[5.0] * 3] * 2
    assert names(tmp_path) == ["checkpoint", "m-7.data-00000-of-00002", "m-7.data-00001-of-00002", "m-7.index"]
    # One file or many: a saver of either kind reads both.
    with tf.Session() as session:
        tf.train.Saver().restore(session, path)
        assert session.run(variables[0]).tolist() == [1.0, 2.0]


def test_reshape(tmp_path: Path) -> None:
    a = tf.Variable([1.0, 2.0, 3.0], name="v")
    b = tf.Variable([[0.0], [0.0], [0.0]], name="w")
    path = str(tmp_path / "m")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver({"x": a}).save(session, path)
        tf.train.Saver({"x": b}, reshape=True).restore(session, path)
        assert session.run(b).tolist() == [[1.0], [2.0], [3.0]]
        with pytest.raises(errors.InvalidArgumentError, match=r"lhs shape= \[3,1\] rhs shape= \[3\]"):
            tf.train.Saver({"x": b}).restore(session, path)


def test_a_variable_of_unknown_shape_takes_the_checkpoint_s(tmp_path: Path) -> None:
    v = tf.Variable(tf.placeholder_with_default([1.0, 2.0], None), validate_shape=False, name="v")
    w = tf.Variable(tf.zeros([2, 3]), name="w")
    path = str(tmp_path / "m")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver({"x": w}).save(session, path)
        tf.train.Saver({"x": v}).restore(session, path)
        assert session.run(v).shape == (2, 3)


# --- which checkpoints there are -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("variables")
@pytest.mark.parametrize(("keep", "left"), [(2, ["m-2", "m-3"]), (1, ["m-3"]), (None, None), (0, None)])
def test_max_to_keep(tmp_path: Path, keep: int | None, left: list[str] | None) -> None:
    saver = tf.train.Saver(max_to_keep=keep)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = [saver.save(session, str(tmp_path / "m"), global_step=step) for step in range(4)]
    every = [f"m-{step}" for step in range(4)]
    assert indices(tmp_path) == (every if left is None else left)
    assert sorted(path.stem for path in tmp_path.glob("*.meta")) == indices(tmp_path)
    assert saver.last_checkpoints == ([] if left is None else [str(tmp_path / name) for name in left])
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == paths[-1] == tf.train.latest_checkpoint(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == (saver.last_checkpoints or [paths[-1]])


def test_threads_save_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: tuple[Any, Any]
) -> None:
    saver, update = tf.train.Saver(), checkpoint_state.update_checkpoint_state
    is_updating, may_go_on = threading.Event(), threading.Event()

    def slow_update(*args: Any, **kwargs: Any) -> None:
        is_updating.set()
        may_go_on.wait(60)
        update(*args, **kwargs)

    monkeypatch.setattr(checkpoint_state, "update_checkpoint_state", slow_update)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, second = (threading.Thread(target=saver.save, args=(session, str(tmp_path / "m"), step)) for step in (1, 2))
        first.start()
        assert is_updating.wait(60)
        monkeypatch.setattr(checkpoint_state, "update_checkpoint_state", update)
        second.start()
        second.join(0.2)  # it would be done, did it not wait
        may_go_on.set()
        first.join()
        second.join()
    assert tf.train.latest_checkpoint(str(tmp_path)) == saver.last_checkpoints[-1] == str(tmp_path / "m-2")


@pytest.mark.usefixtures("variables")
def test_one_is_kept_every_n_hours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("tfexp.train.saver.time.time", lambda: now[0])
    saver = tf.train.Saver(max_to_keep=1, keep_checkpoint_every_n_hours=1.0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in range(7):
            now[0] += 1500.0
            saver.save(session, str(tmp_path / "m"), global_step=step, write_meta_graph=False)
    # Saved at 25, 50, 75, … minutes: the first after each full hour stays, and the last.
    assert indices(tmp_path) == ["m-2", "m-4", "m-6"]


@pytest.mark.usefixtures("variables")
def test_saving_a_path_again_moves_it_to_the_end(tmp_path: Path) -> None:
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for name in ("x", "y", "x", "z"):
            saver.save(session, str(tmp_path / name), write_meta_graph=False)
    assert indices(tmp_path) == ["x", "z"]


@pytest.mark.usefixtures("variables")
def test_a_new_saver_takes_over(tmp_path: Path) -> None:
    first, second, third = (tf.train.Saver(max_to_keep=n) for n in (5, 2, 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        paths = [first.save(session, str(tmp_path / "m"), global_step=step) for step in range(3)]
        second.recover_last_checkpoints([paths[0], str(tmp_path / "gone"), paths[1]])
        assert second.last_checkpoints == paths[:2]
        second.save(session, str(tmp_path / "m"), global_step=3)
        assert indices(tmp_path) == ["m-1", "m-2", "m-3"]
        third.set_last_checkpoints([paths[2]])  # of unknown age: kept
        third.save(session, str(tmp_path / "m"), global_step=4)
        assert third.last_checkpoints == [str(tmp_path / "m-4")]
    assert indices(tmp_path) == ["m-1", "m-2", "m-3", "m-4"]


@pytest.mark.usefixtures("variables")
def test_steps_in_names(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    saver, padded = tf.train.Saver(), tf.train.Saver(pad_step_number=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign_add(step, 42))
        for given in (7, np.int64(8), step, "global_step:0"):
            saver.save(session, str(tmp_path / "m"), global_step=given, write_meta_graph=False, write_state=False)
        padded.save(session, str(tmp_path / "p"), global_step=step, write_meta_graph=False, write_state=False)
    assert indices(tmp_path) == ["m-42", "m-7", "m-8", "p-00000042"]
    assert not (tmp_path / "checkpoint").exists()


@pytest.mark.usefixtures("variables")
def test_a_folder_that_moves(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.mkdir()
    saver = tf.train.Saver(save_relative_paths=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(old / "m"), global_step=1)
        saver.save(session, str(old / "m"), global_step=2, latest_filename="mine")
        old.rename(tmp_path / "new")
        assert tf.train.latest_checkpoint(str(tmp_path / "new")) == str(tmp_path / "new" / "m-1")
        latest = tf.train.latest_checkpoint(str(tmp_path / "new"), "mine")
        assert latest == str(tmp_path / "new" / "m-2")
        saver.restore(session, latest)


# --- refused -----------------------------------------------------------------------------------------------------------


def test_what_cannot_be_saved(variables: tuple[Any, Any]) -> None:
    a, b = variables
    for source, error, text in (
        ([], ValueError, "No variables to save"),
        ([a, a], ValueError, "At least two variables have the same name: a"),
        ({"x": a, "y": a}, ValueError, "The same saveable will be restored with two names: y"),
        ({1: a}, TypeError, "Name is not a string: 1"),
        ([tf.constant(1.0)], TypeError, "Variable to save is not a Variable"),
        ({"x": [a, b]}, ValueError, "Slices must all be slices"),
        (a, TypeError, "should be passed in a dict or a list"),
    ):
        with pytest.raises(error, match=text):
            tf.train.Saver(source)
    with pytest.raises(ValueError, match=r"saver_def must be a saver_pb2.SaverDef: 5"):
        tf.train.Saver(saver_def=5)
    with pytest.raises(ValueError, match="build cannot be deferred"):
        tf.train.Saver([a], defer_build=True)


def test_where_nothing_can_be_saved(tmp_path: Path, variables: tuple[Any, Any]) -> None:
    saver = tf.train.Saver()
    with tf.Session() as session:
        with pytest.raises(errors.FailedPreconditionError, match="uninitialized value"):
            saver.save(session, str(tmp_path / "m"))
        session.run(tf.global_variables_initializer())
        for path, settings, error, text in (
            ("", {}, ValueError, "no path specified"),
            (str(tmp_path / "checkpoint"), {}, ValueError, "'latest_filename' collides with 'save_path'"),
            (str(tmp_path / "m"), {"latest_filename": "a/b"}, ValueError, "must not contain path components"),
            (str(tmp_path / "no" / "such" / "m"), {}, ValueError, "Parent directory of .*m doesn't exist, can't save"),
        ):
            with pytest.raises(error, match=text):
                saver.save(session, path, **settings)
    with pytest.raises(TypeError, match="'sess' must be a Session"):
        saver.save(None, str(tmp_path / "m"))
    with pytest.raises(RuntimeError, match=r"`build\(\)` should be called before save"), tf.Session() as session:
        tf.train.Saver(defer_build=True).save(session, str(tmp_path / "m"))
    assert names(tmp_path) == []


def test_nothing_to_save(tmp_path: Path) -> None:
    saver = tf.train.Saver(allow_empty=True)
    with tf.Session() as session:
        assert saver.save(session, str(tmp_path / "m")) is None
        saver.restore(session, str(tmp_path / "m"))
    assert names(tmp_path) == ["m.meta"]


def test_what_cannot_be_restored(tmp_path: Path) -> None:
    path = str(tmp_path / "m")
    with tf.Session() as session:
        v = tf.Variable([1.0, 2.0], name="v")
        session.run(v.initializer)
        saver = tf.train.Saver()
        saver.save(session, path)
        for wrong, text in ((None, "when it is None"), (str(tmp_path / "x"), "not a valid checkpoint: .*x"), ("", "valid")):
            with pytest.raises(ValueError, match=text):
                saver.restore(session, wrong)
    for other, error, text in (
        (lambda: tf.Variable([1.0, 2.0], name="w"), errors.NotFoundError, "Key w not found in checkpoint"),
        (lambda: tf.Variable([1, 2], name="v"), errors.InvalidArgumentError, "expected dtype int32 does not equal .* float"),
        (lambda: tf.Variable([1.0], name="v"), errors.InvalidArgumentError, r"lhs shape= \[1\] rhs shape= \[2\]"),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            other()
            with pytest.raises(error, match=rf"(?s)Restoring from checkpoint failed.*{text}"):
                tf.train.Saver().restore(session, path)


def test_a_damaged_checkpoint_changes_nothing(tmp_path: Path) -> None:
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([3.0, 4.0], name="b")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        data = tmp_path / "m.data-00000-of-00001"
        damaged = bytearray(data.read_bytes())
        damaged[-1] ^= 1
        data.write_bytes(bytes(damaged))
        session.run([a.assign([7.0, 7.0]), b.assign([7.0, 7.0])])
        with pytest.raises(errors.DataLossError, match="b"):
            saver.restore(session, path)
        assert session.run([a, b])[0].tolist() == [7.0, 7.0]


# --- looking into checkpoints ------------------------------------------------------------------------------------------


def test_inspection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tf.Variable([[1.0, 2.0]], name="v1")
    tf.Variable(3, name="v2")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    print_tensors_in_checkpoint_file(path, None, True)
    assert capsys.readouterr().out == "tensor_name:  v1\n[[1. 2.]]\ntensor_name:  v2\n3\n# Total number of params: 3\n"
    print_tensors_in_checkpoint_file(path, "v2", False)
    assert capsys.readouterr().out == "tensor_name:  v2\n3\n# Total number of params: 3\n"
    print_tensors_in_checkpoint_file(path, None, False, True, count_exclude_pattern="2$")
    assert capsys.readouterr().out == (
        "tensor_name:  v1\ntensor_name:  v2\n"
        "# Excluding 1 tensors (1 params) that match 2$ when counting.\n# Total number of params: 2\n"
    )
    print_tensors_in_checkpoint_file(path, None, False)
    assert "v1 (DT_FLOAT) [1,2]" in capsys.readouterr().out
    assert tf.train.list_variables(str(tmp_path)) == [("v1", [1, 2]), ("v2", [])]
    assert tf.train.load_variable(str(tmp_path), "v2:0") == 3
    reader = tf.train.NewCheckpointReader(path)
    assert reader.has_tensor("v1") and not reader.has_tensor("v3")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        tf.train.load_checkpoint(str(tmp_path.parent))


def test_references_of_an_imported_graph_are_saved_and_restored(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        v = tf.Variable([1.0, 2.0], name="v")
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"), write_meta_graph=False)
        definition = graph.as_graph_def()
    with tf.Graph().as_default(), tf.Session() as session:
        (reference,) = tf.import_graph_def(definition, return_elements=["v:0"], name="")
        for var_list in ([reference], {"v": reference}):
            saver = tf.train.Saver(var_list)
            saver.restore(session, path)
            assert session.run(reference).tolist() == [1.0, 2.0]
        with pytest.raises(TypeError, match="Variable to save is not a Variable"):
            tf.train.Saver([tf.constant(1.0)])


def test_a_state_file_may_be_called_as_a_checkpoint_was(tmp_path: Path, variables: tuple[Any, Any]) -> None:
    saver = tf.train.Saver(max_to_keep=1)
    prefix = str(tmp_path / "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="collides with 'save_path'"):
            saver.save(session, prefix, latest_filename="model")
        saver.save(session, prefix)
        assert saver.save(session, prefix, global_step=3, latest_filename="model") == f"{prefix}-3"
        # The older checkpoint is deleted, the state file, which has its name, is not.
        assert not (tmp_path / "model.index").exists()
        assert tf.train.latest_checkpoint(str(tmp_path), "model") == f"{prefix}-3"
        with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
            saver.save(session, prefix, global_step=4, latest_filename="model-4")
