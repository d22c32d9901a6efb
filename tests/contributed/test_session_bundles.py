"""tf.contrib.session_bundle, and what exports estimators into bundles."""

import numpy as np
import pytest

import tfexp as tf
from tfexp.contributed import export_versions, session_bundles
from tfexp.formats.protos.session_bundle import AssetFile, Signatures

learn = tf.contrib.learn

pytestmark = pytest.mark.usefixtures("quiet")


def inputs():
    return {"x": tf.constant([[1.0, 2.0], [3.0, 4.0]]), "n": tf.constant([[1], [2]])}, tf.constant([1.0, 2.0])


def model(features, labels, mode):
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    predicted = tf.matmul(features["x"], w)[:, 0] + tf.cast(features["n"][:, 0], tf.float32)
    if labels is None:
        return learn.ModelFnOps(mode, {"p": predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    train = tf.train.GradientDescentOptimizer(0.0).minimize(loss, tf.train.get_global_step())
    return learn.ModelFnOps(mode, {"p": predicted}, loss, train)


def example(**values):
    made = tf.train.Example()
    for name, value in values.items():
        feature = made.features.feature[name]
        (feature.int64_list if isinstance(value[0], int) else feature.float_list).value.extend(value)
    return made.SerializeToString()


def loaded(folder):
    """(the session, its Signatures) of a bundle, from the file and its collections alone."""
    session = tf.Session(graph=tf.Graph())
    with session.graph.as_default():
        saver = tf.train.import_meta_graph(f"{folder}/export.meta")
        saver.restore(session, f"{folder}/export")
        session.run(tf.get_collection("serving_init_op"))
        [packed] = tf.get_collection("serving_signatures")
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.Signatures"
    return session, Signatures.FromString(packed.value)


def test_a_monitor_exports_each_checkpoint_once(tmp_path):
    monitor = learn.monitors.ExportMonitor(2, str(tmp_path / "exports"), exports_to_keep=2)
    config = learn.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=None)
    made = learn.Estimator(model, str(tmp_path / "model"), config)
    made.fit(input_fn=inputs, steps=4, monitors=[monitor])
    assert sorted(path.name for path in (tmp_path / "exports").iterdir()) == ["00000003", "00000004"]
    assert monitor.last_export_dir == bytes(tmp_path / "exports" / "00000004")
    session, signatures = loaded(tmp_path / "exports" / "00000004")
    names = {name: each.tensor_name for name, each in signatures.default_signature.generic_signature.map.items()}
    with session:  # the integers are parsed as an Example has them
        assert session.run(names["p"], {names["inputs"]: [example(x=[1.0, 2.0], n=[5])]}) == [8.0]
    with pytest.raises(RuntimeError, match="Duplicate export dir"):
        made.export(str(tmp_path / "exports"))


def test_a_model_of_columns_is_served_by_its_signature(tmp_path):
    made = learn.LinearRegressor([tf.feature_column.numeric_column("x", (2,))], str(tmp_path / "model"))
    made.fit(input_fn=lambda: ({"x": tf.constant([[1.0, 2.0]])}, tf.constant([[1.0]])), steps=1)
    session, signatures = loaded(made.export(str(tmp_path / "exports"), default_batch_size=None).decode())
    served = signatures.default_signature.regression_signature
    with session:
        found = session.run(served.output.tensor_name, {served.input.tensor_name: [example(x=[1.0, 2.0])]})
    np.testing.assert_allclose(found, list(made.predict(input_fn=lambda: {"x": tf.constant([[1.0, 2.0]])})), rtol=1e-6)


def test_exports_engineer_features_as_the_training_does(tmp_path):
    def engineer(features, labels):
        return {**features, "x": features["x"] * 10.0}, labels

    made = learn.Estimator(model, str(tmp_path / "model"), feature_engineering_fn=engineer)
    made.fit(input_fn=inputs, steps=1)
    spec = {"x": tf.FixedLenFeature([2], tf.float32), "n": tf.FixedLenFeature([1], tf.int64)}
    path = made.export_savedmodel(str(tmp_path / "saved"), learn.utils.build_parsing_serving_input_fn(spec))
    request = [example(x=[1.0, 2.0], n=[5])]
    with tf.Session(graph=tf.Graph()) as session:
        served = tf.saved_model.load(session, ["serve"], path).signature_def["serving_default"]
        assert session.run(served.outputs["p"].name, {served.inputs["examples"].name: request}) == [35.0]
    session, signatures = loaded(made.export(str(tmp_path / "bundles")).decode())
    named = signatures.default_signature.generic_signature.map
    with session:
        assert session.run(named["p"].tensor_name, {named["inputs"].tensor_name: request}) == [35.0]


def test_what_cannot_be_exported(tmp_path):
    made = learn.Estimator(model, str(tmp_path))
    with pytest.raises(ValueError, match="was fit"):
        made.export(str(tmp_path / "exports"))
    with pytest.raises(ValueError, match="input_fn must be defined"):
        made.export(str(tmp_path / "exports"), use_deprecated_input_fn=False)
    monitor = learn.monitors.ExportMonitor(1, str(tmp_path / "exports"))
    monitor.set_estimator(tf.estimator.Estimator(model, str(tmp_path)))
    monitor.begin()
    monitor.step_begin(1)
    with pytest.raises(ValueError, match="does not support"):
        monitor.step_end(1, {})


def test_assets_come_along_and_the_newest_bundles_stay(tmp_path):
    (tmp_path / "words.txt").write_text("a\n")
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        asset = tf.constant(str(tmp_path / "words.txt"), name="asset")
        session.run(tf.global_variables_initializer())
        exporter = session_bundles.Exporter(tf.train.Saver())
        with pytest.raises(RuntimeError, match="init must be called first"):
            exporter.export(str(tmp_path), step, session)
        with pytest.raises(TypeError, match="constant scalar string"):
            exporter.init(assets_collection=[tf.constant(1)])
        exporter.init(
            clear_devices=True,
            default_graph_signature=session_bundles.classification_signature(step, step, step),
            assets_collection=[asset],
        )
        with pytest.raises(RuntimeError, match="only once"):
            exporter.init()
        for version in (5, 20, 3):
            session.run(step.assign(version))
            exporter.export(f"{tmp_path}/e/", step, session, export_versions.largest_export_versions(2))
        [packed] = tf.get_collection("serving_assets")
    assert AssetFile.FromString(packed.value).tensor_binding.tensor_name == "asset:0"
    assert sorted(path.name for path in (tmp_path / "e").iterdir()) == ["00000005", "00000020"]
    assert (tmp_path / "e" / "00000020" / "assets" / "words.txt").read_text() == "a\n"


def test_filters_of_exports():
    gc = learn.utils.gc
    paths = [gc.Path(f"/{version}", version) for version in (0, 1, 2, 3, 7, 8, 9)]
    unknown = gc.Path("/n", None)

    def kept(keep, given=paths):
        return [path.export_version for path in keep(given)]

    assert kept(gc.largest_export_versions(3), [*paths, unknown]) == [7, 8, 9]
    assert kept(gc.largest_export_versions(0)) == []
    assert kept(gc.one_of_every_n_export_versions(3), [*paths, unknown]) == [3, 9]
    assert kept(gc.union(gc.mod_export_version(3), gc.largest_export_versions(2))) == [0, 3, 8, 9]
    assert kept(gc.negation(gc.mod_export_version(3))) == [1, 2, 7, 8]
