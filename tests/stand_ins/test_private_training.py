"""Private names of training that TensorFlow's tests use: savers of objects, matrices, hooks."""

import os

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed import remapped_matrices
from tfexp.ops.saveable_object import SaveableObject, SaveSpec
from tfexp.ops.variable_store import PartitionInfo
from tfexp.stand_ins import functional_savers, hooks_of_several_steps, tracked, warm_starting
from tfexp.stand_ins.context import eager_mode
from tfexp.stand_ins.modules import stand_for


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_a_saver_of_objects_saves_and_restores_at_once(tmp_path):
    with eager_mode():
        variable = tf.Variable([1.0, 2.0])
        saver = functional_savers._SingleDeviceSaver(functional_savers.saveable_objects_for_op(variable, "x"))
        saver.save(tf.constant(str(tmp_path / "one")))
        variable.assign([5.0, 6.0])
        assert list(saver.restore(str(tmp_path / "one"))) == ["x"]
        np.testing.assert_array_equal(variable.numpy(), [1, 2])
    assert tf.train.list_variables(str(tmp_path / "one")) == [("x", [2])]


def test_a_saver_of_objects_makes_a_saver_def(tmp_path):
    variable = tf.Variable(3.0, name="v")
    saver = functional_savers.MultiDeviceSaver(functional_savers.saveable_objects_for_op(variable, "key"))
    public = tf.train.Saver(saver_def=saver.to_proto())
    with tf.Session() as session:
        session.run(variable.initializer)
        path = public.save(session, str(tmp_path / "model"))
        session.run(variable.assign(7.0))
        public.restore(session, path)
        assert session.run(variable) == 3.0
    with pytest.raises(ValueError, match="Expected a list of SaveableObjects"):
        functional_savers._SingleDeviceSaver([variable])
    with pytest.raises(TypeError, match="Name is not a string"):
        list(functional_savers.saveable_objects_for_op(variable, 3))


def test_the_view_of_objects_saves_them(tmp_path):
    with eager_mode():
        root = tf.train.Checkpoint(v=tf.Variable(1.0))
        view = tracked.ObjectGraphView(root)
        assert [name for name, _ in view.list_dependencies(root)] == ["v"]
        named, graph, feeds = view.serialize_object_graph()
        assert ([one.name for one in named], len(graph.nodes), feeds) == (["v/.ATTRIBUTES/VARIABLE_VALUE"], 2, {})
        saver = tracked.TrackableSaver(view)
        path = saver.save(str(tmp_path / "objects"), checkpoint_number=4)
        assert path.endswith("objects-4")
        root.v.assign(9.0)
        saver.restore(path).assert_consumed()
        assert root.v.numpy() == 1.0


def test_other_variables_are_saved_for_objects(tmp_path):
    root, path = tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path / "frozen")
    with tf.Graph().as_default() as other:
        fixed = tf.Variable(5.0)
    named = tracked.ObjectGraphView(root).frozen_saveable_objects({root.v: fixed}, other)
    with other.as_default(), tf.Session() as session:
        session.run(fixed.initializer)
        session.run(functional_savers.MultiDeviceSaver(named).save(path))
    with tf.Session() as session:
        root.restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(root.v) == 5.0


# --- other vocabularies ------------------------------------------------------------------------------------------------


@pytest.fixture
def matrix(tmp_path):
    """(a checkpoint with the matrix "m" of 3 rows and 2 columns, its words, other words, other columns)."""
    files = []
    for name, words in {"old": "a b c", "new": "c d a", "columns": "y x z", "before": "x y"}.items():
        (tmp_path / name).write_text("\n".join(words.split()) + "\n")
        files.append(str(tmp_path / name))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("m", initializer=np.float32([[1, 2], [3, 4], [5, 6]]))
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path / "model")), *files


def initialized(variable):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(variable).tolist()


def test_a_matrix_is_remapped(matrix):
    path, old, new, columns, before = matrix

    def ones(shape):
        """A program's own: it is asked for matrices."""
        return tf.tile([[1.0]], shape)

    initializer = remapped_matrices.load_and_remap_matrix_initializer(
        path, "m", 3, 3, -1, old, new, before, columns, 1, 1, ones
    )
    found = initialized(tf.get_variable("w", [4, 4], initializer=initializer))
    assert found == [[6, 5, 1, 1], [1, 1, 1, 1], [2, 1, 1, 1], [1, 1, 1, 1]]
    for shape, message in (([4], "2-dim"), ([4, 3], "2nd dim"), ([5, 4], "would exceed")):
        with pytest.raises(ValueError, match=message):
            initializer(shape)
    with pytest.raises(TypeError, match="only float32"):
        initializer([4, 4], tf.float64)


def test_what_is_missing_in_a_matrix_is_asked_for_as_a_column(matrix):
    path, old, new, columns, before = matrix
    initializer = remapped_matrices.load_and_remap_matrix_initializer(
        path, "m", 3, 3, -1, old, new, before, columns, initializer=lambda shape, **_: tf.tile([[7.0]], shape)
    )
    assert initialized(tf.get_variable("w", [3, 3], initializer=initializer)) == [[6, 5, 7], [7, 7, 7], [2, 1, 7]]


def test_an_embedding_in_parts_is_remapped(matrix):
    path, old, new, *_ = matrix
    initializer = remapped_matrices.load_embedding_initializer(
        path, "m", 3, 2, old, new, num_oov_buckets=1, initializer=tf.zeros_initializer()
    )
    parts = tf.fixed_size_partitioner(2)
    variable = tf.get_variable("w", [4, 2], initializer=initializer, partitioner=parts)
    assert initialized(tf.convert_to_tensor(variable)) == [[5, 6], [0, 0], [1, 2], [0, 0]]


def test_biases_and_slots_are_remapped(matrix):
    path, old, new, *_ = matrix
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("b", initializer=np.float32([[7], [8], [9]]))
        session.run(tf.global_variables_initializer())
        biases = tf.train.Saver().save(session, f"{path}_biases")
    initializer = remapped_matrices.load_linear_multiclass_bias_initializer(biases, "b", 3, old, new, 1)
    assert initialized(tf.get_variable("w", [4, 1], initializer=initializer)) == [[9], [0], [7], [0]]
    second = PartitionInfo([3, 2], [1, 0])
    initializer = remapped_matrices.load_variable_slot_initializer(path, "m", second, 3, 2, old, new)
    assert initialized(tf.get_variable("slot", [2, 2], initializer=initializer)) == [[0, 0], [1, 2]]


@pytest.mark.parametrize(
    ("error", "message", "given"),
    [
        (ValueError, "Must provide either", {}),
        (ValueError, "must both be specified", {"old_row_vocab_file": "a"}),
        (TypeError, "must be callable", {"initializer": 5}),
    ],
)
def test_what_no_matrix_is_remapped_with(error, message, given):
    with pytest.raises(error, match=message):
        remapped_matrices.load_and_remap_matrix_initializer("path", "m", 3, 2, **given)([3, 2])


def test_a_variable_starts_with_the_words_of_before(matrix):
    path, old, new, *_ = matrix
    variable = tf.get_variable("w", initializer=np.zeros((3, 2), np.float32))
    warm_starting._warm_start_var_with_vocab(variable, new, 3, path, old, prev_tensor_name="m")
    assert initialized(variable) == [[5, 6], [0, 0], [1, 2]]
    with pytest.raises(ValueError, match="Must provide all"):
        warm_starting._warm_start_var_with_vocab(variable, None, 3, path, old)


# --- several steps in a run --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("given", "expected"), [({"num_steps": 5}, [2, 2, 1]), ({"last_step": 3}, [2, 1])])
def test_the_last_run_makes_the_steps_that_are_left(given, expected):
    step = tf.train.get_or_create_global_step()
    hook = hooks_of_several_steps._MultiStepStopAtStepHook(**given, steps_per_run=2)
    steps = hooks_of_several_steps.get_or_create_steps_per_run_variable()
    train = tf.assign_add(step, tf.cast(steps, tf.int64))
    made = []
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            made.append(int(session.raw_session().run(steps)))
            session.run(train)
    assert made == expected
    with pytest.raises(ValueError, match="greater than 0"):
        hooks_of_several_steps._MultiStepStopAtStepHook(num_steps=1, steps_per_run=0)


def test_the_last_run_of_an_evaluation_too():
    hook = hooks_of_several_steps._MultiStepStopAfterNEvalsHook(5, steps_per_run=3)
    steps = hooks_of_several_steps.get_or_create_steps_per_run_variable()
    done = tf.get_variable("done", initializer=0)
    hook._set_evals_completed_tensor(tf.assign_add(done, steps))
    nothing = tf.no_op()
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        counts = []
        while not session.should_stop():
            session.run(nothing)
            counts.append(int(session.raw_session().run(done)))
    assert counts == [3, 5]


def test_a_timer_that_never_triggers():
    timer = hooks_of_several_steps.NeverTriggerTimer()
    assert not timer.should_trigger_for_step(3)
    assert timer.update_last_triggered_step(3) == (None, None)
    assert timer.last_triggered_step() is None


def test_event_files_of_ones_own_name(tmp_path):
    writer = stand_for("tensorflow.python.pywrap_tensorflow").EventsWriter(str(tmp_path / "mine").encode())
    writer.Flush()
    writer.Close()
    assert list(tmp_path.iterdir()) == []
    writer.WriteEvent(tf.Event(wall_time=1.0, step=3))
    writer.Flush()
    (path,) = tmp_path.glob("mine.out.tfevents.*")
    assert writer.FileName() == str(path).encode()
    writer.Close()
    writer.WriteEvent(tf.Event(step=4))
    assert [event.step for event in tf.train.summary_iterator(str(path))] == [0, 3]


def test_devices_of_what_a_checkpoint_has():
    with tf.device("/cpu:1"):
        value = tf.constant(1.0)
    made = SaveSpec(lambda: value, "", "made", tf.float32, "/device:CPU:2")
    assert SaveSpec(value, "", "key").device == "/device:CPU:1"
    assert (SaveableObject(value, [made], "made").device, SaveableObject(value, [], "none").device) == (
        "/device:CPU:2",
        "/device:CPU:1",
    )


def test_signatures_and_folders_of_exports(tmp_path):
    utils, outputs = (
        stand_for(f"tensorflow.python.saved_model.model_utils.{name}") for name in ("export_utils", "export_output")
    )
    text, number = tf.placeholder(tf.string), tf.constant([1.0])
    heads = {"serving_default": outputs.RegressionOutput(number), None: outputs.PredictOutput(number)}
    signatures = utils.build_all_signature_defs(text, heads, {"raw": {"x": number}, None: text})
    assert {name: sorted(one.inputs) for name, one in signatures.items()} == {
        "serving_default": ["inputs"],
        "None": ["input"],
        "raw:None": ["x"],
        "None:serving_default": ["inputs"],
        "None:None": ["input"],
    }
    trained = utils.export_outputs_for_mode("train", loss=number, metrics={"m": (number, number)})
    assert sorted(utils.build_all_signature_defs({"x": number}, trained, serving_only=False)["train"].outputs) == [
        "loss",
        "metrics/m/update_op",
        "metrics/m/value",
    ]
    assert utils.build_all_signature_defs({"x": number}, trained) == {}
    assert sorted(utils.export_outputs_for_mode("infer", {"a": heads[None]})) == ["a", "serving_default"]
    assert list(utils.export_outputs_for_mode("test", loss=number)) == ["eval"]
    for call, error, message in (
        (lambda: utils.build_all_signature_defs(text, None), ValueError, "must be a dict"),
        (lambda: utils.export_outputs_for_mode("other"), ValueError, "Invalid mode key: other"),
        (lambda: utils.get_export_outputs([], None), TypeError, "must be dict"),
        (lambda: utils.get_export_outputs({"a": 1}, None), TypeError, "must be ExportOutput objects"),
        (lambda: utils.get_export_outputs({"a": heads[None], "b": heads[None]}, None), ValueError, "none of them"),
    ):
        with pytest.raises(error, match=message):
            call()
    folder = utils.get_timestamped_export_dir(str(tmp_path))
    assert os.path.dirname(folder) == os.fsencode(tmp_path) and os.path.basename(folder).isdigit()
    assert utils.get_temp_export_dir("base/12") == b"base/temp-12"


def test_variables_and_their_names_in_checkpoints():
    info = warm_starting._get_var_info
    with tf.Graph().as_default():
        whole = tf.get_variable("a", [2])
        parts = tf.get_variable("s/b", [4], partitioner=tf.fixed_size_partitioner(2))
    assert info(whole) == ("a", whole) and info(whole, "before") == ("before", whole)
    assert info(parts) == info(list(parts)) == ("s/b", list(parts))
    with pytest.raises(TypeError, match="MUST be one of the following"):
        info("a")
