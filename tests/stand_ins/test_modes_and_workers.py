"""Modes of models, executors, places of workers, and what a parsing node reads, as TensorFlow's own tests ask for them."""

from __future__ import annotations

import threading

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

modes = stand_for("tensorflow.python.saved_model.model_utils.mode_keys")
places = stand_for("tensorflow.python.distribute.multi_worker_util")
parsers = stand_for("tensorflow.python.util.example_parser_configuration")

CHIEF = {"chief": ["a:1"], "worker": ["b:1", "b:2"], "ps": ["c:1"]}
WORKERS = {"worker": ["b:1", "b:2"]}


def test_executors_of_a_thread():
    context, executors = (stand_for(f"tensorflow.python.eager.{name}") for name in ("context", "executor"))
    one = context.context()
    assert not (one.is_async() or context.is_async()) and one.execution_mode == context.SYNC
    with context.eager_mode(), context.execution_mode(context.ASYNC):
        assert one.is_async() and one.execution_mode == context.ASYNC
        one.executor.wait()
        context.async_wait()
        another = executors.new_executor(enable_async=False)
        with context.executor_scope(another):
            assert one.executor is another and not context.is_async() and tf.constant(3).numpy() == 3
        with pytest.raises(ValueError, match="Got 7"):
            one.execution_mode = 7
    assert not context.is_async()


def test_modes_have_two_names():
    names = ("train", "test", "eval", "predict", "infer")
    kinds = [[holds(name) for name in names] for holds in (modes.is_train, modes.is_eval, modes.is_predict)]
    assert kinds == [[True, *[False] * 4], [False, True, True, False, False], [False, False, False, True, True]]
    by_mode = modes.ModeKeyMap(train=3, eval=5)
    assert (by_mode["train"], by_mode["test"], by_mode["eval"], list(by_mode)) == (3, 5, 5, ["train", "eval"])
    with pytest.raises(ValueError, match="Invalid mode key: q"):
        by_mode["q"]
    with pytest.raises(ValueError, match="Multiple keys/values found for test mode"):
        modes.ModeKeyMap(eval=1, test=2)


@pytest.mark.parametrize(
    ("cluster", "task", "is_chief", "number", "leader", "workers"),
    [
        (CHIEF, ("chief", 0), True, 0, "chief", 3),
        (CHIEF, ("worker", 1), False, 2, "chief", 3),
        (WORKERS, ("worker", 0), True, 0, "worker", 2),
        (WORKERS, ("worker", 1), False, 1, "worker", 2),
    ],
)
def test_places_of_tasks(cluster, task, is_chief, number, leader, workers):
    assert places.is_chief(cluster, *task) is is_chief and places.id_in_cluster(cluster, *task) == number
    assert places.collective_leader(cluster, *task) == f"/job:{leader}/replica:0/task:0"
    assert places.worker_count(cluster, task[0]) == workers


def test_tasks_that_do_not_train():
    alone = {"chief": ["a:1"], "evaluator": ["b:1"]}
    assert places.collective_leader({}, None, None) == places.collective_leader(alone, "evaluator", 0) == ""
    assert (places.id_in_cluster(alone, "evaluator", 0), places.worker_count(alone, "evaluator")) == (0, 1)
    for ask in (places.worker_count, lambda *task: places.id_in_cluster(*task, 0)):
        with pytest.raises(ValueError, match="'ps'"):
            ask(CHIEF, "ps")


@pytest.mark.parametrize(
    ("cluster", "task", "text"),
    [
        (3, ("worker", 0), "should be dict or"),
        (None, ("worker", 0), "should be `None`"),
        (CHIEF, ("nope", 0), "Unrecognized task_type: 'nope'"),
        (CHIEF, ("evaluator", 0), "'evaluator' not found in cluster_spec"),
        (CHIEF, ("worker", 2), "exceeds the maximum id of worker"),
        ({"chief": ["a:1", "b:1"]}, ("chief", 0), "at most one 'chief' job"),
    ],
)
def test_tasks_that_are_not_there(cluster, task, text):
    with pytest.raises(ValueError, match=text):
        places.is_chief(cluster, *task)


@pytest.mark.parametrize("version", [1, 2])
def test_what_a_parsing_node_reads(version):
    with tf.Graph().as_default(), tf.Session() as session:
        texts, no_names = tf.placeholder(tf.string, [None]), tf.constant([], tf.string)
        if version == 1:
            raw = tf.raw_ops.ParseExample(
                serialized=texts,
                names=no_names,
                sparse_keys=["v"],
                dense_keys=["x"],
                dense_defaults=[tf.constant([1.0, 2.0])],
                sparse_types=[tf.int64],
                dense_shapes=[[2]],
            )
            op = raw.dense_values[0].op
        else:
            features = {"x": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]), "v": tf.VarLenFeature(tf.int64)}
            op = tf.parse_example(texts, features)["x"].op
        found = parsers.extract_example_parser_configuration(op, session).feature_map
        with pytest.raises(ValueError, match="'Placeholder' has no attr named 'Nsparse'"):
            parsers.extract_example_parser_configuration(texts.op, session)
    dense, sparse = found["x"].fixed_len_feature, found["v"].var_len_feature
    assert (dense.dtype, dense.shape.dim[0].size, dense.values_output_tensor_name) == (1, 2, f"{op.name}:3")
    assert tf.make_ndarray(dense.default_value).tolist() == [1.0, 2.0]
    names = [sparse.indices_output_tensor_name, sparse.values_output_tensor_name, sparse.shapes_output_tensor_name]
    assert names == [f"{op.name}:{i}" for i in range(3)] and sparse.dtype == 9


def test_values_of_devices():
    utils = stand_for("tensorflow.python.distribute.cross_device_utils")

    def slices(values, indices):
        return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([4]))

    one, other = slices([1.0], [1]), slices([3.0], [3])
    total = utils.aggregate_tensors_or_indexed_slices([one, other])
    half = utils.divide_by_n_tensors_or_indexed_slices(one, 2)
    copied = utils.copy_tensor_or_indexed_slices_to_device(one, "/cpu:1")
    assert [part.device for part in (copied.values, copied.indices, copied.dense_shape)] == ["/device:CPU:1"] * 3
    assert utils.copy_tensor_or_indexed_slices_to_device(tf.constant(1.0), "/cpu:1").device == "/device:CPU:1"
    with tf.Session() as session:
        assert session.run([total.values, total.indices])[1].tolist() == [1, 3]
        assert session.run(half.values).tolist() == [0.5]
        assert session.run(utils.aggregate_tensors_or_indexed_slices([tf.constant(1.0), tf.constant(2.0)])) == 3
        dense = utils.aggregate_tensors_or_indexed_slices([one, tf.ones([4])])
        assert session.run(dense).tolist() == [1.0, 2.0, 1.0, 1.0]
    assert utils.contains_indexed_slices([tf.constant(1.0), (one,)]) and not utils.contains_indexed_slices([one.values])


def test_keys_of_collective_ops():
    keys = stand_for("tensorflow.python.distribute.cross_device_utils").CollectiveKeys(10, 100, 1000)
    groups = (["/cpu:0", "/gpu:0"], ["/gpu:0", "/job:worker/cpu:0"], ["/cpu:0"])
    assert [keys.get_group_key(group) for group in groups] == [10, 10, 11]
    assert [keys.get_op_instance_key(), keys.get_op_instance_key(), keys.get_variable_instance_key()] == [100, 101, 1000]
    elsewhere = []
    ask = (keys.get_op_instance_key, keys.get_variable_instance_key)
    thread = threading.Thread(target=lambda: elsewhere.extend(key() for key in ask))
    thread.start()
    thread.join()
    assert elsewhere == [100, 1001]


def test_somebody_is_asked_until_the_answer_is_one(monkeypatch, capsys):
    asked, answers = [], iter(["what", "Y ", "n"])
    monkeypatch.setattr("builtins.input", lambda text: asked.append(text) or next(answers))
    ask = stand_for("tensorflow.python.keras.utils.io_utils").ask_to_proceed_with_overwrite
    assert ask("a.h5") and capsys.readouterr().out == "[TIP] Next time specify overwrite=True!\n"
    assert not ask("a.h5") and capsys.readouterr().out == ""
    again = "[WARNING] a.h5 already exists - overwrite? [y/n]"
    assert asked == [again, 'Enter "y" (overwrite) or "n" (cancel).', again]


def test_policies_of_blocks():
    context = stand_for("tensorflow.python.eager.context")
    assert context.context_safe() is context.context()
    with context.device_policy(context.DEVICE_PLACEMENT_WARN), context.mirroring_policy(context.MIRRORING_ALL):
        assert context.context().device_policy == context.DEVICE_PLACEMENT_WARN
        assert context.context().mirroring_policy == context.MIRRORING_ALL
        with context.device_policy(None), context.mirroring_policy(None):
            assert context.context().device_policy == context.DEVICE_PLACEMENT_SILENT
            assert context.context().mirroring_policy == context.MIRRORING_NONE
        assert context.context().device_policy == context.DEVICE_PLACEMENT_WARN
    assert context.context().device_policy == context.DEVICE_PLACEMENT_SILENT
    assert context.context().mirroring_policy == context.MIRRORING_NONE


def test_names_of_what_is_not_shared():
    context = stand_for("tensorflow.python.eager.context")
    assert context.shared_name() is None and context.shared_name("a") == "a"
    with context.eager_mode():
        assert context.shared_name() == context.shared_name(None) and len(context.shared_name()) == 36
        assert context.shared_name("a") == "a"
