"""tf.contrib.training, optimize_loss, slim.learning, and the losses and metrics with swapped arguments."""

import numpy as np
import pytest

import tfexp as tf

HParams = tf.contrib.training.HParams


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_hyperparameters_keep_their_types():
    settings = HParams(units=8, rate=0.5, sizes=[3, 5], name="x", flag=False)
    settings.parse("units=16,rate=1,sizes=[7,11],name=new,flag=true")
    assert settings.values() == {"units": 16, "rate": 1.0, "sizes": [7, 11], "name": "new", "flag": True}
    assert isinstance(settings.rate, float) and "units" in settings and settings.get("other", 3) == 3
    settings.parse("sizes=[7,13]")
    settings.set_hparam("units", 4)
    settings.units = 5
    settings.parse_json('{"rate": 0.25}')
    assert settings.to_json(sort_keys=True) == '{"flag": true, "name": "new", "rate": 0.25, "sizes": [7, 13], "units": 5}'
    settings.add_hparam("more", 1)
    settings.del_hparam("more")
    assert "more" not in settings


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s.parse("units=1.5"), "Could not parse hparam 'units' of type 'int' with value '1.5'"),
        (lambda s: s.parse("other=1"), "Unknown hyperparameter type for other"),
        (lambda s: s.parse("units"), "Malformed hyperparameter value"),
        (lambda s: s.parse("units=[1,2]"), "Must not pass a list for single-valued parameter: units"),
        (lambda s: s.set_hparam("units", [1]), "Must not pass a list for single-valued parameter: units"),
        (lambda s: s.set_hparam("sizes", 1), "Must pass a list for multi-valued parameter: sizes"),
        (lambda s: s.set_hparam("units", 1.5), "Could not cast"),
        (lambda s: s.add_hparam("units", 1), "Hyperparameter name is reserved: units"),
        (lambda s: s.add_hparam("none", []), "cannot be empty"),
    ],
)
def test_hyperparameters_refuse(change, message):
    with pytest.raises(ValueError, match=message):
        change(HParams(units=8, sizes=[3, 5]))


@pytest.mark.parametrize(
    "optimizer", ["SGD", "Adam", tf.train.AdagradOptimizer, lambda rate: tf.train.MomentumOptimizer(rate, 0.9)]
)
def test_optimize_loss_moves_the_loss(optimizer):
    v = tf.get_variable("v", [3], initializer=tf.ones_initializer())
    loss = tf.reduce_sum(tf.square(v))
    step = tf.train.create_global_step()
    train = tf.contrib.layers.optimize_loss(
        loss, step, 0.1, optimizer, clip_gradients=1.0, gradient_multipliers={"v": 2.0}, summaries=["loss", "gradient_norm"]
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(train) == 3.0 and session.run(loss) < 3.0 and session.run(step) == 1
    summaries = [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    names = ["global_norm/gradient_norm", "loss", "gradient_norm/v_0", "global_norm/clipped_gradient_norm"]
    assert summaries == [f"OptimizeLoss/{name}" for name in names]


def test_a_learning_rate_has_a_summary_where_it_decays():
    loss = tf.reduce_sum(tf.get_variable("v", [3]))
    step = tf.train.create_global_step()
    tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD")
    tf.contrib.layers.optimize_loss(loss, step, 0.1, "SGD", learning_rate_decay_fn=lambda rate, step: rate / 2, name="D")
    summaries = [s.op.name for s in tf.get_collection(tf.GraphKeys.SUMMARIES)]
    first = ["OptimizeLoss/global_norm/gradient_norm", "OptimizeLoss/loss"]
    assert summaries == [*first, "D/learning_rate_1", "D/global_norm/gradient_norm", "D/loss"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"optimizer": "Nothing"}, "Optimizer name should be one of"),
        ({"optimizer": 3}, "Unrecognized optimizer"),
        ({"learning_rate": -1.0}, "Invalid learning_rate"),
        ({"learning_rate": 1}, "Learning rate should be 0d Tensor or float"),
        ({"summaries": ["weights"]}, "Summaries should be one of"),
        ({"clip_gradients": 3}, "Unknown type <class 'int'> for clip_gradients"),
    ],
)
def test_optimize_loss_refuses(arguments, message):
    loss = tf.reduce_sum(tf.get_variable("v", [3]))
    with pytest.raises(ValueError, match=message):
        tf.contrib.layers.optimize_loss(loss, **{"global_step": None, "learning_rate": 0.1, "optimizer": "SGD", **arguments})


def model():
    x = tf.constant(np.random.RandomState(1).rand(7, 3), tf.float32)
    predicted = tf.contrib.slim.fully_connected(x, 1, activation_fn=None)
    return tf.losses.mean_squared_error(tf.ones([7, 1]), predicted)


def test_slim_training_operations():
    loss = model()
    counter = tf.get_variable("counter", [], tf.int32, tf.zeros_initializer(), trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, counter.assign_add(1).op)
    train = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), clip_gradient_norm=0.5)
    assert train in tf.get_collection(tf.GraphKeys.TRAIN_OP)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run(train) for _ in range(3)]
        assert losses[0] > losses[1] > losses[2] and session.run(counter) == 3
        assert session.run(tf.train.get_global_step()) == 3


def test_summaries_of_gradients_are_called_as_each_module_does():
    pairs = [(tf.ones([3]), tf.get_variable("v", [3])), (None, tf.get_variable("w", [3]))]
    for module, wanted in (
        (tf.contrib.training, ["v_gradient", "v_gradient_norm"]),
        (tf.contrib.slim.learning, ["v/gradient", "v/gradient_norm"]),
    ):
        assert [made.op.name for made in module.add_gradients_summaries(pairs)] == wanted
        tf.get_default_graph().clear_collection(tf.GraphKeys.SUMMARIES)
        loss = tf.reduce_sum(tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)[0])
        module.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1), summarize_gradients=True)
        made = [summary.op.name for summary in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        assert [name.split("/")[-1] for name in made] == ["v_gradient", "v_gradient_norm"]
        assert all(name.startswith("summarize_grads") for name in made)


def test_slim_trains_to_a_number_of_steps(tmp_path):
    train = tf.contrib.slim.learning.create_train_op(model(), tf.train.GradientDescentOptimizer(0.1))
    loss = tf.contrib.slim.learning.train(
        train, str(tmp_path), number_of_steps=5, save_summaries_secs=0, save_interval_secs=0
    )
    assert loss > 0 and tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-5")


def test_metrics_take_predictions_first():
    accuracy, update = tf.contrib.metrics.streaming_accuracy(tf.constant([1, 2, 3]), tf.constant([1, 2, 5]))
    values, updates = tf.contrib.metrics.aggregate_metric_map({"accuracy": (accuracy, update)})
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(updates)
        np.testing.assert_allclose(session.run(values["accuracy"]), 2 / 3, rtol=1e-6)


def test_summaries_by_name():
    layers = tf.contrib.layers
    scalar, vector = tf.constant(1.0, name="one"), tf.nn.relu(tf.constant([1.0]), name="many")
    made = layers.summarize_tensors([scalar, vector])
    assert [s.op.type for s in made] == ["ScalarSummary", "HistogramSummary"]
    assert [s.op.name for s in made] == [f"{x.op.name}_summary" for x in (scalar, vector)]
    assert layers.summarize_activation(vector).op.name == "many/activation"


def test_embeddings_are_shown(tmp_path):
    projector = tf.contrib.tensorboard.plugins.projector
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
    projector.visualize_embeddings(tf.summary.FileWriter(str(tmp_path)), config)
    assert 'tensor_name: "words"' in (tmp_path / "projector_config.pbtxt").read_text()
