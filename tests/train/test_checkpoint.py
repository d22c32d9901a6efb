"""`tf.train.Checkpoint` and `CheckpointManager`: values by the structure of objects, in graphs and eagerly."""

import os

import pytest
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

import tfexp as tf
from tfexp.runtime.eager import eager_mode
from tfexp.train.object_graph import OBJECT_GRAPH_KEY


class Model:
    """A variable, an optimizer that keeps slots for it, and the checkpoint of both."""

    def __init__(self, name="v", start=3.0):
        self.variable = tf.get_variable(name, initializer=start, use_resource=True)
        self.optimizer = tf.train.MomentumOptimizer(0.25, 0.5)
        self.train = self.optimizer.minimize(self.variable * self.variable)
        self.checkpoint = tf.train.Checkpoint(model=[{"a.b": self.variable}], optimizer=self.optimizer)

    def values(self, session):
        return session.run([self.variable, self.optimizer.get_slot(self.variable, "momentum"), self.checkpoint.save_counter])


@pytest.fixture
def saved(tmp_path):
    """A checkpoint after one step."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model()
        session.run(tf.global_variables_initializer())
        session.run(model.train)
        return model.checkpoint.save(str(tmp_path / "ck"))


VALUE, SLOT = "model/0/a..b/.ATTRIBUTES/VARIABLE_VALUE", "model/0/a..b/.OPTIMIZER_SLOT/optimizer/momentum"


@pytest.fixture
def eagerly():
    with eager_mode():
        yield


def test_keys_and_structure_are_those_of_tensorflow(saved, tmp_path):
    keys = [name for name, _ in tf.train.list_variables(saved)]
    counter = "save_counter/.ATTRIBUTES/VARIABLE_VALUE"
    assert keys == [OBJECT_GRAPH_KEY, VALUE, f"{SLOT}/.ATTRIBUTES/VARIABLE_VALUE", counter]
    graph = TrackableObjectGraph.FromString(tf.train.load_variable(saved, OBJECT_GRAPH_KEY))
    children = [[(child.node_id, child.local_name) for child in node.children] for node in graph.nodes]
    assert children == [[(1, "model"), (2, "optimizer"), (3, "save_counter")], [(4, "0")], [], [], [(5, "a.b")], [], []]
    (slot,) = graph.nodes[2].slot_variables
    assert (slot.original_variable_node_id, slot.slot_name, slot.slot_variable_node_id) == (5, "momentum", 6)
    assert [(a.name, a.full_name, a.checkpoint_key) for a in graph.nodes[5].attributes] == [("VARIABLE_VALUE", "v", VALUE)]
    assert saved.endswith("ck-1") and tf.train.latest_checkpoint(str(tmp_path)) == saved


def test_values_come_back_by_structure_whatever_the_names(saved):
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model("another_name", start=0.0)
        status = model.checkpoint.restore(saved).assert_consumed().assert_nontrivial_match()
        status.run_restore_ops()
        assert model.values(session) == [1.5, 6.0, 1]
        assert model.checkpoint.save(saved[:-2]).endswith("ck-2")


def test_what_is_not_there_is_said_or_initialised(saved):
    with tf.Graph().as_default(), tf.Session() as session:
        other = tf.get_variable("other", initializer=7.0, use_resource=True)
        part = tf.train.Checkpoint(model=[{"a.b": tf.get_variable("v", initializer=0.0)}], other=other)
        status = part.restore(saved).expect_partial()
        with pytest.raises(AssertionError, match=r"Unresolved object in checkpoint .*momentum"):
            status.assert_consumed()
        with pytest.raises(AssertionError, match=r"Some Python objects were not bound to checkpointed values, .*other:0"):
            status.assert_existing_objects_matched()
        status.initialize_or_restore()
        assert session.run([other, "v:0"]) == [7.0, 1.5]
        tf.train.Checkpoint(other=other).restore(saved).assert_nontrivial_match()  # both have a counter


def test_a_checkpoint_that_has_nothing_of_the_program_s(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        one, other = (tf.get_variable(name, initializer=0.0) for name in ("one", "other"))
        session.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(one=one).write(str(tmp_path / "one"), session)
        with pytest.raises(AssertionError, match="Nothing except the root object"):
            tf.train.Checkpoint(other=other).restore(path).assert_nontrivial_match()


def test_variables_that_are_made_later_get_their_values(saved):
    with tf.Graph().as_default(), tf.Session() as session:
        root = tf.train.Checkpoint()
        status = root.restore(saved)
        root.model = [{"a.b": tf.get_variable("late", initializer=0.0)}]
        status.run_restore_ops()
        assert session.run(root.model[0]["a.b"]) == 1.5


def test_checkpoints_by_name_are_restored_by_name(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("v", initializer=5.0)
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "by_name"))
    with tf.Graph().as_default(), tf.Session() as session:
        root = tf.train.Checkpoint(x=tf.get_variable("v", initializer=0.0))
        root.restore(path).assert_consumed().run_restore_ops()
        assert session.run(root.x) == 5.0


def test_no_checkpoint_initialises():
    with tf.Graph().as_default(), tf.Session() as session:
        root = tf.train.Checkpoint(x=tf.get_variable("v", initializer=2.0))
        status = root.restore(None)
        with pytest.raises(AssertionError, match="No checkpoint specified"):
            status.assert_consumed()
        status.initialize_or_restore()
        assert session.run(root.x) == 2.0


def test_layers_are_parts_and_values_are_saved_eagerly(tmp_path):
    with eager_mode():
        layer = tf.layers.Dense(2, name="dense")
        layer(tf.ones([1, 3]))
        root = tf.train.Checkpoint(layer=layer)
        path = root.save(str(tmp_path / "eager"))
        assert [name for name, _ in tf.train.list_variables(path)][1:3] == [
            f"layer/{part}/.ATTRIBUTES/VARIABLE_VALUE" for part in ("bias", "kernel")
        ]
        before = layer.kernel.numpy()
        layer.kernel.assign(tf.zeros([3, 2]))
        root.restore(path).assert_consumed()
        assert (layer.kernel.numpy() == before).all() and root.save_counter.numpy() == 1


def test_the_manager_keeps_the_newest(tmp_path):
    folder = str(tmp_path / "kept")
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model()
        session.run(tf.global_variables_initializer())
        manager = tf.train.CheckpointManager(model.checkpoint, folder, max_to_keep=2)
        assert manager.latest_checkpoint is None and manager.checkpoints == []
        paths = [manager.save() for _ in range(3)]
        assert manager.checkpoints == paths[1:] and manager.latest_checkpoint == paths[2] == tf.train.latest_checkpoint(
            folder
        )
        assert not tf.train.checkpoint_exists(paths[0]) and os.path.basename(manager.save(tf.constant(70))) == "ckpt-70"
        again = tf.train.CheckpointManager(model.checkpoint, folder, 5, checkpoint_name="other")
        assert again.checkpoints == [paths[2], f"{folder}/ckpt-70"] and os.path.basename(again.save()) == "other-5"
        kept = tf.train.CheckpointManager(model.checkpoint, folder, 1, keep_checkpoint_every_n_hours=0.0)
        last = kept.save()
        assert kept.checkpoints == [last] and tf.train.checkpoint_exists(paths[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.train.Checkpoint(x=3), "expecting a trackable object .* got 3 as 'x'"),
        (lambda: tf.train.CheckpointManager(tf.train.Checkpoint(), "folder", 0), "Expected a positive integer or `None`"),
    ],
)
def test_refusals(call, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        call()


class Position(tf.train.experimental.PythonState):
    """Where one is in a list."""

    def __init__(self):
        self.place = 0

    def serialize(self):
        return str(self.place)

    def deserialize(self, string_value):
        self.place = int(string_value)


@pytest.mark.parametrize("eager", [False, True])
def test_states_of_python_are_saved_and_restored(eager, tmp_path):
    with eager_mode() if eager else tf.Graph().as_default(), tf.Session() as session:
        first, second = Position(), Position()
        checkpoint = tf.train.Checkpoint(reader={"a": first}, other=second)
        first.place, second.place = 3, 5
        path = checkpoint.save(str(tmp_path / "ck"), session)
        assert "reader/a/.ATTRIBUTES/py_state" in dict(tf.train.list_variables(path))
        first.place, second.place = 0, 0
        status = checkpoint.restore(path).assert_consumed()
        assert (first.place, second.place) == (3, 5)
        first.place = 7
        status.run_restore_ops(session)
        checkpoint.write(str(tmp_path / "again"), session)
        fresh = Position()
        tf.train.Checkpoint(reader={"a": fresh}).restore(str(tmp_path / "again"))
        assert fresh.place == 7


@pytest.mark.parametrize("eager", [False, True])
def test_iterators_go_on_where_a_checkpoint_has_them(eager, tmp_path):
    with eager_mode() if eager else tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(5).map(lambda i: i * i))
        graphs = None if eager else iterator.get_next()

        def following():
            return int(iterator.get_next() if graphs is None else session.run(graphs))

        checkpoint = tf.train.Checkpoint(iterator=iterator)
        assert (following(), following()) == (0, 1)
        path = checkpoint.save(str(tmp_path / "ck"), session)
        assert "iterator/.ATTRIBUTES/ITERATOR" in dict(tf.train.list_variables(path))
        assert (following(), following()) == (4, 9)
        checkpoint.restore(path).run_restore_ops(session)
        assert (following(), following()) == (4, 9)


def test_keras_session_has_the_values_where_there_is_no_default_session(tmp_path):
    with tf.Graph().as_default():
        variable = tf.keras.backend.variable(4.0)
        checkpoint = tf.train.Checkpoint(v=variable)
        path = checkpoint.save(str(tmp_path / "ck"))
        tf.keras.backend.set_value(variable, 9.0)
        checkpoint.restore(path).assert_consumed().run_restore_ops()
        assert tf.keras.backend.get_value(variable) == 4.0


class Making(tf.Module):
    """Makes the part that a checkpoint has for it."""

    def _lookup_dependency(self, name):
        part = super()._lookup_dependency(name)
        if part is None:
            self._unconditional_dependency_names[name] = part = Position()
        return part


def test_an_object_may_make_its_parts_when_they_are_restored(tmp_path):
    with tf.Graph().as_default(), tf.Session():
        saved = tf.Module()
        saved.reader = Position()
        saved.reader.place = 3
        path = tf.train.Checkpoint(it=saved).save(str(tmp_path / "ck"))
        made = Making()
        tf.train.Checkpoint(it=made).restore(path).assert_consumed()
        ((name, reader),) = made._unconditional_checkpoint_dependencies
        assert (name, reader.place) == ("reader", 3)
        assert made._checkpoint_dependencies == [(name, reader)]


class Tables(tf.Module):
    """A table that is filled once, and one with entries that come and go."""

    def __init__(self):
        super().__init__()
        self.entries = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, tf.constant(-1, tf.int64), "", "$")
        self.fixed = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1)


def test_tables_are_parts(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tables = Tables()
        session.run(tables.entries.insert(tf.constant(["x", "y"]), tf.constant([4, 5], tf.int64)))
        path = tf.train.Checkpoint(tables=tables).write(str(tmp_path / "ck"), session)
        table = "tables/entries/.ATTRIBUTES/table"
        assert [name for name, _ in tf.train.list_variables(path)] == [OBJECT_GRAPH_KEY, f"{table}-keys", f"{table}-values"]
        written = TrackableObjectGraph.FromString(tf.train.load_checkpoint(path).get_tensor(OBJECT_GRAPH_KEY))
        fixed = next(child for child in written.nodes[1].children if child.local_name == "fixed")
        assert [child.local_name for child in written.nodes[fixed.node_id].children] == ["_initializer"]
    with tf.Graph().as_default(), tf.Session() as session:
        tables = Tables()
        tf.train.Checkpoint(tables=tables).restore(path).assert_consumed().run_restore_ops(session)
        assert session.run(tables.entries.lookup(tf.constant(["x", "y", "z"]))).tolist() == [4, 5, -1]


@pytest.mark.usefixtures("eagerly")
def test_slots_that_are_made_after_restoring_get_their_values(tmp_path):
    def trained(steps, path=None):
        root = tf.train.Checkpoint(x=tf.Variable(2.0), optimizer=tf.train.AdamOptimizer(0.1))
        status = root.restore(path)
        for _ in range(steps):
            root.optimizer.minimize(lambda: root.x * root.x)
        if path is not None:
            status.assert_consumed()
        return root

    path = trained(2).save(str(tmp_path / "two"))
    assert trained(1, path).x.numpy() == trained(3).x.numpy()


@pytest.mark.usefixtures("eagerly")
def test_parts_that_are_made_after_restoring_get_their_values_at_once(tmp_path):
    def made(root, value):
        root.x = tf.Variable(value)
        root.parts = tf.contrib.checkpoint.List()
        root.parts.append(tf.Variable(value))
        root.parts.extend([tf.Variable(value)])
        root.named = tf.contrib.checkpoint.Mapping()
        root.named["a"] = tf.Variable(value)
        root._track_trackable(tf.Variable(value), "tracked")
        metric = root.metric = tf.contrib.eager.metrics.Mean()
        metric(value)
        return [root.x, *root.parts, root.named["a"], root._lookup_dependency("tracked"), metric.numer]

    root = tf.train.Checkpoint()
    assert [v.numpy() for v in made(root, 2.0)] == [2.0] * 6
    path, root = root.save(str(tmp_path / "made")), tf.train.Checkpoint()
    status = root.restore(path)
    assert [v.numpy() for v in made(root, 5.0)] == [2.0] * 5 + [7.0]
    status.assert_consumed()


@pytest.mark.usefixtures("eagerly")
def test_templates_are_parts(tmp_path):
    def scaled(x, start):
        with tf.variable_scope("inner"):
            return x * tf.get_variable("scale", initializer=start)

    template = tf.make_template("t", scaled)
    template(1.0, 3.0)
    path = tf.train.Checkpoint(part=template).save(str(tmp_path / "template"))
    assert "part/inner.Sscale/.ATTRIBUTES/VARIABLE_VALUE" in dict(tf.train.list_variables(path))
    other = tf.make_template("other", scaled)
    status = tf.train.Checkpoint(part=other).restore(path)
    assert other(2.0, 9.0).numpy() == 6.0
    status.assert_consumed()
