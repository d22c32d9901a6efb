"""What starts and trains a loaded graph, and its assets, by the private names of TensorFlow's saved_model."""

import pytest

import tfexp as tf
from tfexp.stand_ins.modules import stand_for

builder_impl = stand_for("tensorflow.python.saved_model.builder_impl")
loader_impl = stand_for("tensorflow.python.saved_model.loader_impl")
utils_impl = stand_for("tensorflow.python.saved_model.utils_impl")
summary_op_util = stand_for("tensorflow.python.ops.summary_op_util")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def saved_with(*keys):
    meta_graph = tf.MetaGraphDef()
    for key in keys:
        meta_graph.collection_def[key].node_list.value.append("any")
    return meta_graph


def test_operations_of_collections():
    first, second, third = (tf.no_op(name) for name in ("first", "second", "third"))
    for op in (first, second):
        tf.add_to_collection("saved_model_main_op", op)
        tf.add_to_collection("saved_model_train_op", op)
    tf.add_to_collection("legacy_init_op", third)
    assert loader_impl.get_init_op(saved_with()) is None and loader_impl.get_train_op(saved_with()) is None
    assert loader_impl.get_init_op(saved_with("legacy_init_op")) is third
    assert loader_impl.get_init_op(saved_with("legacy_init_op", "saved_model_main_op")) is first
    assert loader_impl.get_train_op(saved_with("saved_model_train_op")) is first


@pytest.mark.parametrize("kind", ["init", "train"])
def test_operations_of_signatures(kind):
    find, key = getattr(loader_impl, f"get_{kind}_op"), f"__saved_model_{kind}_op"
    meta_graph = tf.MetaGraphDef()
    meta_graph.signature_def[key].outputs[key].name = "start"
    with pytest.raises(tf.errors.NotFoundError, match=f"The {key} could not be found in the graph"):
        find(meta_graph)
    with tf.name_scope("part"):
        start = tf.no_op("start")
    assert find(meta_graph, "part") is start


def test_operations_of_a_model_that_is_loaded(tmp_path):
    with tf.Session() as session:
        start, step = tf.no_op(name="start"), tf.no_op(name="step")
        tf.add_to_collection("saved_model_train_op", step)
        builder = tf.saved_model.Builder(tmp_path / "model")
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=start)
        builder.save()
    with tf.Graph().as_default(), tf.Session() as session:
        definition = tf.saved_model.load(session, ["serve"], tmp_path / "model")
        assert loader_impl.get_init_op(definition).name == "start"
        assert loader_impl.get_train_op(definition).name == "step"


def test_elements_by_their_infos():
    x, op = tf.placeholder(tf.float32, [2, None]), tf.no_op()
    assert utils_impl.get_element_from_tensor_info(utils_impl.build_tensor_info_from_op(op)) is op
    info = utils_impl.build_tensor_info_internal(x)
    assert info == tf.saved_model.build_tensor_info(x)
    assert utils_impl.get_element_from_tensor_info(info) is x
    with pytest.raises(KeyError, match="does not exist in the graph"):
        utils_impl.get_element_from_tensor_info(info, tf.Graph())


def test_assets_of_one_name(tmp_path):
    paths = []
    for folder, text in (("a", "a"), ("c", "c"), ("d", "c")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "b.txt").write_text(text)
        paths.append(str(tmp_path / folder / "b.txt"))
    one, other, like_other = paths
    name = builder_impl.get_asset_filename_to_add
    assert name(one, {}) == name(one, {"b.txt": one}) == name(like_other, {"b.txt": other}) == "b.txt"
    assert name(other, {"b.txt": one}) == name(like_other, {"b.txt": one, "b.txt_1": other}) == "b.txt_1"
    builder_impl.copy_assets_to_destination_dir({"x.txt": one, "y.txt": other}, str(tmp_path / "out"))
    assert {path.name: path.read_text() for path in (tmp_path / "out" / "assets").iterdir()} == {"x.txt": "a", "y.txt": "c"}


def test_names_of_summaries_are_cleaned():
    assert [summary_op_util.clean_tag(name) for name in ("a b", "///a//b c/", "-a.b", "a:0", None)] == [
        "a_b",
        "a//b_c/",
        "-a.b",
        "a_0",
        None,
    ]
