"""tf.saved_model: folders that TensorFlow loads and that it wrote (`tests/golden/record_saved_model.py`)."""

import os

import numpy as np
import pytest

import tfexp as tf
from tests.golden import record_saved_model
from tfexp.formats.protos.saved_model import SavedModel
from tfexp.train.saved_model_loader import asset_feeds

sm = tf.saved_model
EXPECTED = [[10.0]], b"one\ntwo\n"


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_tensorflows_model_is_loaded():
    assert record_saved_model.run(tf, str(record_saved_model.FOLDER)) == EXPECTED


def test_ours_is_written_as_tensorflow_writes_it_and_loaded(tmp_path):
    record_saved_model.export(tf, str(tmp_path / "model"))
    assert record_saved_model.run(tf, str(tmp_path / "model")) == EXPECTED
    ours, theirs = (
        SavedModel.FromString((folder / "saved_model.pb").read_bytes()).meta_graphs[0]
        for folder in (tmp_path / "model", record_saved_model.FOLDER)
    )
    assert ours.signature_def == theirs.signature_def
    assert list(ours.meta_info_def.tags) == ["serve"] and ours.asset_file_def == theirs.asset_file_def
    for key in ("saved_model_main_op", "saved_model_assets", "asset_filepaths", "variables"):
        assert ours.collection_def[key] == theirs.collection_def[key], key
    files = sorted(os.path.relpath(os.path.join(at, f), tmp_path) for at, _, names in os.walk(tmp_path) for f in names)
    assert files == [
        "model/assets/words.txt",
        "model/saved_model.pb",
        "model/variables/variables.data-00000-of-00001",
        "model/variables/variables.index",
    ]


def linear(session, folder, **arguments):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.matmul(x, tf.get_variable("w", initializer=[[2.0], [3.0]]), name="y")
    session.run(tf.global_variables_initializer())
    sm.simple_save(session, folder, {"x": x}, {"y": y}, **arguments)


def test_a_simple_model_goes_below_a_scope(tmp_path):
    with tf.Session() as session:
        linear(session, tmp_path / "model")
    assert sm.contains_saved_model(tmp_path / "model") and not sm.contains_saved_model(tmp_path)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        loaded = sm.load(session, [sm.SERVING], tmp_path / "model", import_scope="below")
        info = loaded.signature_def[sm.DEFAULT_SERVING_SIGNATURE_DEF_KEY].outputs["y"]
        y = sm.get_tensor_from_tensor_info(info, graph, import_scope="below")
        assert y.name == "below/y:0" and session.run(y, {"below/x:0": [[1, 1]]}) == [[5.0]]


def test_graphs_with_other_tags_share_the_variables(tmp_path):
    builder = sm.Builder(tmp_path / "model")
    with pytest.raises(AssertionError, match="has not been saved yet"):
        builder.add_meta_graph(["gpu"])
    with tf.Session() as session:
        v = tf.get_variable("v", initializer=3.0)
        session.run(v.initializer)
        builder.add_meta_graph_and_variables(session, ["train"])
        with pytest.raises(AssertionError, match="has already been saved"):
            builder.add_meta_graph_and_variables(session, ["train"])
    with tf.Graph().as_default():
        tf.identity(tf.get_variable("v", []) * 2, name="twice")
        builder.add_meta_graph(["serve", "gpu"], clear_devices=True)
    assert builder.save(as_text=True).endswith(b"saved_model.pbtxt")
    with tf.Graph().as_default(), tf.Session() as session:
        sm.loader.load(session, ["gpu", "serve"], tmp_path / "model")
        assert session.run("twice:0") == 6.0
    with pytest.raises(RuntimeError, match=r"tags 'tpu' could not be found .* \[\['train'\], \['gpu', 'serve'\]\]"):
        sm.loader.load(None, ["tpu"], tmp_path / "model")


def test_a_model_without_variables(tmp_path):
    with tf.Session() as session:
        x = tf.placeholder(tf.float32, [], name="x")
        sm.simple_save(session, tmp_path / "model", {"x": x}, {"y": tf.add(x, 1.0, name="y")})
    with tf.Graph().as_default(), tf.Session() as session:
        sm.load(session, ["serve"], tmp_path / "model")
        assert session.run("y:0", {"x:0": 1.0}) == 2.0


def test_refusals(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(AssertionError, match="isn't empty"):
        sm.Builder(tmp_path)
    with pytest.raises(OSError, match=r"SavedModel file does not exist at: .*\{saved_model.pbtxt\|saved_model.pb\}"):
        sm.load(None, ["serve"], tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\xff\xff")
    with pytest.raises(OSError, match="Cannot parse file"):
        sm.load(None, ["serve"], tmp_path)
    unnamed = sm.build_signature_def({"x": tf.MetaGraphDef().signature_def["s"].inputs["x"]}, {}, "method")
    with tf.Session() as session, pytest.raises(AssertionError, match="must have one of the 'encoding' fields"):
        sm.Builder(tmp_path / "other").add_meta_graph_and_variables(session, [], {"s": unnamed})
    asset, builder = tf.placeholder(tf.string, []), sm.Builder(tmp_path / "third")
    with tf.Session() as session, pytest.raises(TypeError, match="must be of type constant"):
        builder.add_meta_graph_and_variables(session, [], assets_collection=[asset])


def test_signatures():
    examples, scores = tf.placeholder(tf.string, [None]), tf.placeholder(tf.float32, [None, 3])
    classes = tf.constant(["a", "b"])
    classify = sm.classification_signature_def(examples, classes, scores)
    regress = sm.regression_signature_def(examples, scores)
    predict = sm.predict_signature_def({"x": examples}, {"y": scores})
    assert [s.method_name.rpartition("/")[2] for s in (classify, regress, predict)] == ["classify", "regress", "predict"]
    assert all(map(sm.is_valid_signature, (classify, regress, predict)))
    assert not sm.is_valid_signature(None) and not sm.is_valid_signature(sm.build_signature_def({}, {}, "other"))
    assert not sm.is_valid_signature(sm.build_signature_def({}, predict.outputs, sm.PREDICT_METHOD_NAME))
    sparse = tf.sparse_placeholder(tf.float32, name="sparse")
    again = sm.get_tensor_from_tensor_info(sm.build_tensor_info(sparse))
    assert (again.indices, again.values) == (sparse.indices, sparse.values)
    for call, message in (
        (lambda: sm.regression_signature_def(None, scores), "Regression examples cannot be None"),
        (lambda: sm.regression_signature_def(scores, scores), "Regression examples must be a string Tensor"),
        (lambda: sm.regression_signature_def(examples, examples), "Regression output must be a float Tensor"),
        (lambda: sm.classification_signature_def(examples, None, None), "cannot both be None"),
        (lambda: sm.classification_signature_def(examples, scores, None), "classes must be a string Tensor"),
        (lambda: sm.predict_signature_def({}, {"y": scores}), "Prediction inputs cannot be None or empty"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_models_initialize_what_the_main_op_says(tmp_path):
    with tf.Session() as session:
        tf.get_variable("local", [], initializer=tf.constant_initializer(7.0), collections=[tf.GraphKeys.LOCAL_VARIABLES])
        builder = sm.Builder(tmp_path / "model")
        v = tf.get_variable("v", initializer=1.0)
        session.run(v.assign(4.0))
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=tf.local_variables_initializer())
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        sm.load(session, ["serve"], tmp_path / "model")
        np.testing.assert_array_equal(session.run(["local:0", "v:0"]), [7.0, 4.0])


def test_what_is_given_as_legacy_init_op_is_the_main_op(tmp_path):
    with tf.Session() as session:
        tf.get_variable("local", [], initializer=tf.constant_initializer(7.0), collections=[tf.GraphKeys.LOCAL_VARIABLES])
        session.run(tf.get_variable("v", initializer=1.0).initializer)
        builder = sm.Builder(tmp_path / "model")
        builder.add_meta_graph_and_variables(session, ["serve"], legacy_init_op=tf.local_variables_initializer())
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        definition = sm.loader.load(session, ["serve"], tmp_path / "model")
        assert "saved_model_main_op" in definition.collection_def
        assert session.run(["local:0", "v:0"]) == [7.0, 1.0]


def test_files_of_one_name_are_kept_apart(tmp_path):
    paths = [tmp_path / folder / "words.txt" for folder in ("a", "b", "c")]
    for path, text in zip(paths, ("one", "two", "one"), strict=True):
        path.parent.mkdir()
        path.write_text(text)
    with tf.Graph().as_default(), tf.Session() as session:
        assets = [tf.constant(str(path), name=f"asset{i}") for i, path in enumerate(paths)]
        builder = sm.Builder(tmp_path / "model")
        builder.add_meta_graph_and_variables(session, ["x"], assets_collection=assets)
        builder.save()
    kept = {path.name: path.read_text() for path in (tmp_path / "model" / "assets").iterdir()}
    assert kept == {"words.txt": "one", "words.txt_1": "two"}
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = sm.loader.load(session, ["x"], str(tmp_path / "model"))
    assert len(loaded.collection_def["saved_model_assets"].any_list.value) == 3
    places = asset_feeds(str(tmp_path), loaded, "s")
    assert sorted(places) == ["s/asset0:0", "s/asset1:0", "s/asset2:0"]
    assert places["s/asset1:0"] == bytes(tmp_path / "assets" / "words.txt_1")


def test_a_variable_in_a_collection_of_its_own_comes_back_as_a_tensor():
    with tf.Graph().as_default() as graph:
        tf.add_to_collection("mine", tf.Variable(1.0, name="v"))
        definition = tf.train.export_meta_graph(graph=graph)
    assert list(definition.collection_def["mine"].node_list.value) == ["v:0"]
    with tf.Graph().as_default():
        tf.train.import_meta_graph(definition)
        assert tf.get_collection("mine")[0].name == "v:0" and isinstance(tf.global_variables()[0], tf.Variable)


def test_what_a_builder_refuses(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        builder = sm.Builder(tmp_path / "model")
        for assets, message in (
            ([tf.constant(3)], "must be of dtype string"),
            (["x"], "must be a Tensor"),
            ([tf.identity("x")], "type const"),
        ):
            with pytest.raises(TypeError, match=message):
                builder.add_meta_graph_and_variables(session, ["x"], assets_collection=assets)
        missing = [tf.constant(str(tmp_path / "nothing.txt"))]
        with pytest.raises(tf.errors.NotFoundError, match=r"nothing\.txt"):
            builder.add_meta_graph_and_variables(session, ["x"], assets_collection=missing)
        reserved = {"__saved_model_init_op": sm.signature_def_utils.build_signature_def()}
        with pytest.raises(KeyError, match="reserved for initialization"):
            builder.add_meta_graph_and_variables(session, ["x"], signature_def_map=reserved)
        start = tf.no_op()
        builder.add_meta_graph_and_variables(session, ["x"], main_op=start)
        with pytest.raises(ValueError, match="already contains one or more main ops"):
            builder.add_meta_graph(["y"], main_op=start)


def test_a_reference_is_described_with_its_type() -> None:
    variable, resource = tf.Variable([1.0, 2.0]), tf.Variable(3.0, use_resource=True)
    assert sm.build_tensor_info(variable).dtype == 101
    assert sm.build_tensor_info(resource).dtype == 1
