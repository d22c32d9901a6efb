"""tf.saved_model.save and load_v2: TensorFlow's folder (`tests/golden/record_object_model.py`) and ours."""

import contextlib
import gc

import numpy as np
import pytest

import tfexp as tf
from tests.golden import record_object_model, record_saved_model
from tfexp.core import nest
from tfexp.ops.trackable import Trackable
from tfexp.runtime.eager import eager_mode
from tfexp.train.object_models import revived_types
from tfexp.train.object_models.assets import Asset

THEIRS = str(record_object_model.FOLDER)
X = np.float32([[1.0, 1.0]])
SERVED = {"y": [[4.5, 5.5]], "z": [[31.0, 61.0]]}
SPEC = tf.TensorSpec([None], tf.float32, name="x")
SPEC_OF_TWO = tf.TensorSpec([2], tf.float32)


class World:
    """Eager execution, or a graph with a session."""

    def __init__(self, session=None):
        self._session = session

    def start(self):
        if self._session is not None:
            self._session.run([tf.global_variables_initializer(), tf.tables_initializer()])

    def values(self, structure):
        if self._session is not None:
            return nest.map_structure(lambda a: a.tolist(), self._session.run(structure))
        return nest.map_structure(lambda tensor: tensor.numpy().tolist(), structure)


@contextlib.contextmanager
def world(kind):
    with tf.Graph().as_default():
        if kind == "eager":
            with eager_mode():
                yield World()
        else:
            with tf.Session() as session:
                yield World(session)


@pytest.fixture(params=["eager", "graph"])
def here(request):
    with world(request.param) as found:
        yield found


@pytest.fixture
def eagerly():
    with world("eager") as found:
        yield found


def check(here, model):
    """What the recorded module does, wherever it was written and is read."""
    here.start()
    x = tf.constant(X)
    assert here.values(model.serve(x)) == SERVED
    assert here.values(model.signatures["serving_default"](x=x)) == SERVED
    assert here.values(model.several(tf.constant(3.0))) == 6.0
    assert here.values(model.several(tf.constant([1.0, 2.0]), flag=False)) == [[1.0, 2.0], [0.0, 1.0]]
    assert here.values(model.several(3.0, scale=4.0)) == 12.0
    assert here.values(model.step()) == [1.5, 0.5]
    assert here.values(model.named["n"].read_value()) == 7
    assert [model.w.trainable, model.b.trainable, model.scales[0].trainable] == [True, False, True]


def test_what_tensorflow_wrote_is_loaded(here):
    model = tf.saved_model.load_v2(THEIRS)
    check(here, model)
    assert here.values(model.find(tf.constant(["two", "three"]))) == [1, -1]
    assert (model.tensorflow_version, model.tensorflow_git_version) == ("2.15.1", "v2.15.0-11-g63f5a65c7cd")


def test_what_is_written_in_eager_execution_is_loaded(here, tmp_path):
    with eager_mode():
        model = record_object_model.make(tf)
        tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    check(here, tf.saved_model.load_v2(str(tmp_path), tags=["serve"]))


def test_what_is_written_of_a_graph_has_the_sessions_values(here, tmp_path):
    with world("graph") as inner:
        with tf.variable_scope("", use_resource=True):
            model = record_object_model.make(tf)
        inner.start()
        tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    check(here, tf.saved_model.load_v2(str(tmp_path)))


def test_what_was_loaded_is_written_again(here, tmp_path):
    with world("graph") as inner:
        model = tf.saved_model.load_v2(THEIRS)
        del model.table, model.find
        inner.start()
        tf.saved_model.save(model, str(tmp_path), signatures=model.serve)
    check(here, tf.saved_model.load_v2(str(tmp_path)))


@pytest.mark.parametrize("is_ours", [False, True])
def test_its_graph_is_loaded_into_a_session(is_ours, tmp_path):
    folder = THEIRS
    if is_ours:
        folder = str(tmp_path)
        with world("eager"):
            model = record_object_model.make(tf)
            tf.saved_model.save(model, folder, signatures=model.serve)
    with tf.Graph().as_default(), tf.Session() as session:
        signature = tf.saved_model.loader.load(session, ["serve"], folder).signature_def["serving_default"]
        fetches = {key: info.name for key, info in signature.outputs.items()}
        served = session.run(fetches, {signature.inputs["x"].name: X})
    assert {key: value.tolist() for key, value in served.items()} == SERVED


def test_what_was_loaded_is_trained(eagerly):
    model = tf.saved_model.load_v2(THEIRS)
    with tf.GradientTape() as tape:
        served = model.serve(tf.constant(X))
        loss = tf.reduce_sum(served["y"]) + tf.reduce_sum(served["z"])
    gradients = tape.gradient(loss, [model.w, model.scales[0]])
    assert eagerly.values(gradients) == [[[1.0, 1.0], [1.0, 1.0]], 30.0]


def test_functions_are_called_within_functions(eagerly):
    model = tf.saved_model.load_v2(THEIRS)
    twice = tf.function(lambda x: model.several(model.several(x)))
    assert eagerly.values(twice(tf.constant(3.0))) == 12.0


def test_a_call_that_fits_no_trace_is_refused(eagerly):
    model = tf.saved_model.load_v2(THEIRS)
    with pytest.raises(ValueError, match=r"(?s)Could not find matching function.*3 option\(s\).*TensorSpec\(shape=\(2,\)"):
        model.several(tf.constant([1.0, 2.0, 3.0]))
    assert model.several.get_concrete_function(SPEC_OF_TWO, False).structured_outputs[0].shape == [2]


def test_the_only_function_with_a_signature_serves(eagerly, tmp_path):
    module = tf.Module()
    module.double = tf.function(lambda x: [2.0 * x, x], input_signature=[SPEC])
    module.other = tf.function(lambda x: x)
    tf.saved_model.save(module, str(tmp_path))
    served = tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"](x=tf.constant([1.0]))
    assert eagerly.values(served) == {"output_0": [2.0], "output_1": [1.0]}


def test_files_go_along(eagerly, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("one")
    module = tf.Module()
    module.words = Asset(words)
    module.read = tf.function(lambda: tf.read_file(module.words.asset_path), input_signature=[])
    tf.saved_model.save(module, str(tmp_path / "model"))
    words.unlink()
    assert tf.saved_model.load_v2(str(tmp_path / "model")).read().numpy() == b"one"


def test_a_variable_keeps_its_name(eagerly):
    assert tf.saved_model.load_v2(THEIRS).w.name == "w:0"


@pytest.mark.usefixtures("only_new_garbage")
def test_functions_that_nobody_can_call_are_forgotten(eagerly):
    library = tf.get_default_graph()._functions
    gc.collect()
    before = set(library)
    model = tf.saved_model.load_v2(THEIRS)
    assert set(library) > before
    del model
    gc.collect()
    assert set(library) == before


@pytest.mark.parametrize("kind", ["eager", "graph"])
def test_a_keras_model_can_be_called(kind, tmp_path):
    with world(kind) as there:
        x = tf.keras.Input([3], name="x")
        model = tf.keras.Model(x, tf.keras.layers.Dropout(1.0 - 1e-7)(tf.keras.layers.Dense(2, name="dense")(x)))
        model.compile("adam", "mse")
        there.start()
        model.fit(np.ones([4, 3]), np.ones([4, 2]), verbose=0)
        expected = model.predict(np.ones([1, 3]))
        tf.saved_model.save(model, str(tmp_path))
    with world("eager"):
        loaded = tf.saved_model.load_v2(str(tmp_path))
        ones = tf.ones([1, 3])
        np.testing.assert_array_equal(loaded(ones), expected)
        np.testing.assert_array_equal(loaded(ones, training=True), np.zeros([1, 2]))
        np.testing.assert_array_equal(loaded.signatures["serving_default"](x=ones)["dropout"], expected)


# --- what is refused ----------------------------------------------------------------------------------------------------


def test_what_is_not_trackable_is_refused(eagerly, tmp_path):
    with pytest.raises(ValueError, match="Expected a Trackable object for export, got 3"):
        tf.saved_model.save(3, str(tmp_path))


def test_saving_within_a_function_is_refused(eagerly, tmp_path):
    with pytest.raises(AssertionError, match="is not supported inside a traced"):
        tf.function(lambda: tf.saved_model.save(tf.Module(), str(tmp_path)), autograph=False)()


def test_a_variable_of_nobody_is_refused(eagerly, tmp_path):
    variable = tf.Variable(1.0)
    module = tf.Module()
    module.read = tf.function(lambda: variable + 1.0, input_signature=[])
    with pytest.raises(AssertionError, match="references untracked object"):
        tf.saved_model.save(module, str(tmp_path))


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda x: x, "Expected a TensorFlow function to generate a signature"),
        (tf.function(lambda x: x), "Expected a TensorFlow function to generate a signature"),
        (tf.function(lambda x: None, input_signature=[SPEC]), "Got a non-Tensor value"),
        (tf.function(lambda x: {3: x}, input_signature=[SPEC]), "a key that is no string: 3"),
    ],
)
def test_what_cannot_serve_is_refused(eagerly, tmp_path, function, text):
    with pytest.raises(ValueError, match=text):
        tf.saved_model.save(tf.Module(), str(tmp_path), signatures=function)


def test_inputs_of_a_signature_have_names_of_their_own(eagerly, tmp_path):
    served = tf.function(lambda pair: {"y": pair[0] - pair[1]}, input_signature=[[SPEC, SPEC]])
    tf.saved_model.save(tf.Module(), str(tmp_path), signatures=served)
    loaded = tf.saved_model.load_v2(str(tmp_path)).signatures["serving_default"]
    assert loaded(x=tf.constant([5.0]), x_1=tf.constant([3.0]))["y"].numpy() == [2.0]


def test_other_tags_are_refused():
    with pytest.raises(ValueError, match=r"one MetaGraph with tags \['serve'\], but got .* tags=train"):
        tf.saved_model.load_v2(THEIRS, tags="train")


def test_what_tensorflows_sessions_wrote_is_loaded(here):
    model = tf.saved_model.load_v2(str(record_saved_model.FOLDER))
    here.start()
    assert here.values(model.signatures["serving_default"](x=tf.constant(X))) == {"y": [[10.0]]}
    assert [v.name for v in model.variables] == ["w:0", "b:0"] and model.tensorflow_version
    assert here.values(model.prune(["x:0"], {"sum": "MatMul:0", "x": "x:0"})(tf.constant(X))) == {
        "sum": [[5.0]],
        "x": X.tolist(),
    }
    with pytest.raises(NotImplementedError, match=r"'words' \(VariableV2\) has a state"):
        model.prune([], "words/read:0")
    with pytest.raises(RuntimeError, match="tags 'train' could not be found"):
        tf.saved_model.load_v2(str(record_saved_model.FOLDER), tags=["train"])


def test_tables_and_parts_of_variables_come_along(here, tmp_path):
    (tmp_path / "words").write_text("one\ntwo\n")
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.contrib.lookup.index_table_from_file(str(tmp_path / "words"))
        keys = tf.placeholder(tf.string, [None], name="keys")
        rows = tf.get_variable("rows", initializer=tf.eye(4), partitioner=tf.fixed_size_partitioner(2))
        scale = tf.get_variable("scale", initializer=3.0, use_resource=True)
        y = tf.nn.embedding_lookup(rows, table.lookup(keys), partition_strategy="div") * scale
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(scale.assign(2.0))
        signature = tf.saved_model.predict_signature_def({"words": keys}, {"y": y})
        builder = tf.saved_model.Builder(folder)
        files = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
        builder.add_meta_graph_and_variables(session, ["serve"], {"rows": signature}, assets_collection=files)
        builder.add_meta_graph(["other"], {})
        builder.save()
    (tmp_path / "words").unlink()
    with pytest.raises(ValueError, match="requires tags if there is more than one MetaGraph"):
        tf.saved_model.load_v2(folder)
    model = tf.saved_model.load_v2(folder, "serve")
    here.start()
    assert here.values(model.signatures["rows"](words=tf.constant(["two"]))) == {"y": [[0.0, 2.0, 0.0, 0.0]]}


def folder_of_session(folder, inputs, output):
    """Where a session wrote the graph of these tensors."""
    with tf.Session(graph=output.graph) as session:
        signature = tf.saved_model.predict_signature_def(inputs, {"y": output})
        builder = tf.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], {"f": signature})
        builder.save()
    return folder


def test_outputs_of_a_signature_have_the_shapes_they_had(here, tmp_path):
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        y = 2.0 * x
        y.set_shape([1])
        folder = folder_of_session(str(tmp_path / "m"), {"x": x}, y)
    (output,) = tf.saved_model.load_v2(folder).signatures["f"].outputs
    assert output.shape.as_list() == [1]


def test_a_signature_has_all_placeholders_as_inputs(here, tmp_path):
    with tf.Graph().as_default():
        x, z = (tf.placeholder(tf.float32, [], name) for name in "xz")
        folder = folder_of_session(str(tmp_path / "m"), {"x": x}, tf.multiply(x, tf.square(z, "s"), "y"))
    with pytest.raises(Exception, match=r"(?s)output for signature 'f' .*y \(Mul\) <- s \(Square\) <- z \(Placeholder\)"):
        tf.saved_model.load_v2(folder)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist"):
        tf.saved_model.load_v2(str(tmp_path))


def test_what_a_loaded_function_returns_has_the_shapes_it_was_saved_with(tmp_path):
    with eager_mode():
        module = tf.Module()
        module.double = tf.function(lambda x: {"y": x + x}, input_signature=[tf.TensorSpec([None, 2], name="x")])
        tf.saved_model.save(module, str(tmp_path), signatures={"double": module.double})
        assert sorted(one.name for one in tmp_path.iterdir()) == ["assets", "saved_model.pb", "variables"]
        loaded = tf.saved_model.load_v2(str(tmp_path))
        assert loaded.signatures["double"].output_shapes["y"].as_list() == [None, 2]
        assert loaded.signatures["double"].structured_outputs == {"y": tf.TensorSpec([None, 2], name="y")}


class Counted(Trackable):
    """Of a type that is registered; `version` says which of its versions made it."""

    def __init__(self, version):
        self.version = version


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(revived_types, "_types", {})
    version = revived_types.VersionedTypeRegistration
    revived_types.register_revived_type(
        "counted",
        lambda value: isinstance(value, Counted),
        [
            version(lambda _: Counted(1), version=1, min_producer_version=1, min_consumer_version=1),
            version(lambda _: Counted(3), 3, 3, 2, bad_consumers=[4]),
            version(lambda _: Counted(2), 2, 2, 1, setter=lambda *_: None),
        ],
    )


def test_objects_of_registered_types_come_back(registered, tmp_path):
    with eager_mode():
        root = tf.Module()
        root.counted = Counted(0)
        root.counted.variable = tf.Variable(5.0)
        tf.saved_model.save(root, str(tmp_path))
        loaded = tf.compat.v2.saved_model.load(str(tmp_path)).counted
        assert type(loaded) is Counted and loaded.version == 3 and loaded.variable.numpy() == 5


@pytest.mark.parametrize(
    ("producer", "min_consumer", "bad", "version"),
    [(1, 1, [], 1), (2, 1, [], 2), (9, 1, [], 3), (3, 3, [3], None), (3, 2, [3], 2), (4, 4, [], None), (0, 0, [], None)],
)
def test_the_latest_version_that_reads_it_makes_an_object(registered, producer, min_consumer, bad, version):
    proto = revived_types.serialize(Counted(0))
    assert (proto.identifier, proto.version.producer, proto.version.min_consumer) == ("counted", 3, 2)
    assert list(proto.version.bad_consumers) == [4] and revived_types.serialize(1) is None
    proto.version.producer, proto.version.min_consumer, proto.version.bad_consumers[:] = producer, min_consumer, bad
    made = revived_types.deserialize(proto)
    assert (made and made[0].version) == version


def test_registrations_that_cannot_be(registered):
    one = revived_types.VersionedTypeRegistration(Counted, 1, 1, 1)
    for name, versions, message in (
        ("counted", [one], "Duplicate registrations for type counted"),
        ("other", [one, one], "multiple registrations with version 1 for type other"),
        ("none", [], "Need at least one version"),
    ):
        with pytest.raises(AssertionError, match=message):
            revived_types.register_revived_type(name, lambda value: False, versions)
    assert list(revived_types.registered_identifiers()) == ["counted"]
