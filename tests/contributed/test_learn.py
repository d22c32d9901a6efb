"""tf.contrib.learn: estimators of arrays, vocabularies of texts."""

import json

import numpy as np
import pytest

import tfexp as tf

learn = tf.contrib.learn

X = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]] * 8)
Y = X[:, 0].astype(np.int64)


pytestmark = pytest.mark.usefixtures("quiet")


def test_a_network_classifies_arrays(tmp_path):
    columns = learn.infer_real_valued_columns_from_input(X)
    assert [column.shape for column in columns] == [(2,)]
    config, adam = learn.RunConfig(tf_random_seed=1), tf.train.AdamOptimizer(0.1)
    classifier = learn.DNNClassifier([8], columns, model_dir=str(tmp_path), optimizer=adam, config=config)
    assert classifier.fit(X, Y, steps=60, batch_size=16) is classifier
    assert classifier.evaluate(X, Y)["accuracy"] == 1.0
    assert list(classifier.predict(X[:4])) == [0, 0, 1, 1]
    assert classifier.predict_proba(X[:4], as_iterable=False).argmax(1).tolist() == [0, 0, 1, 1]
    assert "dnn/hiddenlayer_0/weights" in classifier.get_variable_names()
    found = learn.SKCompat(classifier).predict(X[:4])
    assert found["classes"].tolist() == [0, 0, 1, 1]
    right = {"right": learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")}
    found = learn.SKCompat(classifier).score(X, Y, metrics=right, name="again")
    assert (found["global_step"], found["right"]) == (60, 1.0) and (tmp_path / "eval_again").is_dir()


def test_a_line_is_fitted_to_arrays(tmp_path):
    column = tf.contrib.layers.real_valued_column("x")
    regressor = learn.LinearRegressor([column], str(tmp_path), optimizer=tf.train.GradientDescentOptimizer(0.05))
    x = np.float32([[1], [2], [3], [4]])
    regressor.fit({"x": x}, 2 * x + 1, steps=400)
    assert regressor.predict({"x": np.float32([[5]])}, as_iterable=False)[0] == pytest.approx(11, abs=0.2)


def test_other_classifiers_take_input_functions(tmp_path):
    def data():
        return {"word": tf.constant([["a"], ["b"]])}, tf.constant([[0], [1]])

    column = tf.contrib.layers.sparse_column_with_keys("word", ["a", "b"])
    linear = learn.LinearClassifier([column], str(tmp_path / "linear"))
    assert linear.fit(input_fn=data, steps=20).evaluate(input_fn=data, steps=1)["accuracy"] == 1.0
    deep = learn.DNNRegressor([2], [tf.contrib.layers.one_hot_column(column)], str(tmp_path / "deep"))
    assert deep.fit(input_fn=data, max_steps=2).evaluate(input_fn=data, steps=1)["global_step"] == 2


def test_a_model_function_is_trained_on_arrays(tmp_path):
    def model(features, labels, mode):
        scale = tf.get_variable("scale", initializer=0.0)
        predictions = scale * features
        if mode == learn.ModeKeys.INFER:
            return tf.estimator.EstimatorSpec(mode, predictions={"predictions": predictions})
        loss = tf.losses.mean_squared_error(labels, predictions)
        step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    made = learn.Estimator(model, str(tmp_path)).fit(np.ones([4, 1], np.float32), np.ones([4, 1], np.float32) * 3, steps=20)
    assert made.get_variable_value("scale") == pytest.approx(3.0)
    (found,) = made.predict(np.float32([[2.0]]), outputs=["predictions"])
    assert found["predictions"] == pytest.approx(6.0)


def test_input_is_an_array_or_a_function(tmp_path):
    made = learn.LinearRegressor([tf.contrib.layers.real_valued_column("x")], str(tmp_path))
    with pytest.raises(ValueError, match="either x"):
        made.fit(steps=1)
    with pytest.raises(ValueError, match="no type of real values"):
        learn.infer_real_valued_columns_from_input(np.array([["a"]]))


TEXTS = ["the cat sat", "the dog", "the cat's hat on the mat"]


def test_texts_become_rows_of_numbers(tmp_path):
    processor = learn.preprocessing.VocabularyProcessor(4)
    rows = np.array(list(processor.fit_transform(TEXTS)))
    assert rows.tolist() == [[1, 2, 3, 0], [1, 4, 0, 0], [1, 5, 6, 7]]
    assert len(processor.vocabulary_) == 9
    assert list(processor.reverse(rows[:1])) == ["the cat sat <UNK>"]
    assert [row.tolist() for row in processor.transform(["a cat"])] == [[0, 2, 0, 0]]
    processor.save(tmp_path / "words")
    again = learn.preprocessing.VocabularyProcessor.restore(tmp_path / "words")
    assert [row.tolist() for row in again.transform(["the dog"])] == [[1, 4, 0, 0]]


def test_rare_words_are_unknown():
    processor = learn.preprocessing.VocabularyProcessor(3, min_frequency=1)
    assert [row.tolist() for row in processor.fit_transform(TEXTS)] == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]


def test_kept_words_are_numbered_by_how_often_they_came_and_then_in_order():
    vocabulary = learn.preprocessing.CategoricalVocabulary()
    for word in ["the", "cat", "the", "cat", "dog", "dog", "dog", "sat"]:
        vocabulary.add(word)
    vocabulary.trim(1)
    assert [vocabulary.reverse(number) for number in range(len(vocabulary))] == ["<UNK>", "dog", "cat", "the"]
    with pytest.raises(ValueError, match="support_reverse"):
        learn.preprocessing.CategoricalVocabulary(support_reverse=False).reverse(0)


def test_a_model_function_may_give_predictions_loss_and_training_op(tmp_path):
    def model(features, labels, mode):
        scale = tf.get_variable("scale", initializer=0.0)
        predictions = {"scaled": scale * features[:, 0]}
        if mode == learn.ModeKeys.INFER:
            return predictions, None, None
        loss = tf.losses.mean_squared_error(labels, predictions["scaled"])
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
        if mode == learn.ModeKeys.EVAL:
            return learn.ModelFnOps(mode, predictions, loss, step, {"mean": tf.metrics.mean(predictions["scaled"])})
        return predictions, loss, step

    def doubled(features, labels):
        return {"": 2.0 * features[""]}, labels

    made = learn.Estimator(model, str(tmp_path), feature_engineering_fn=doubled)
    made.fit(np.ones([4, 1], np.float32), np.ones(4, np.float32) * 3, steps=30)
    assert made.get_variable_value("scale") == pytest.approx(1.5)
    assert made.evaluate(np.ones([4, 1], np.float32), np.ones(4, np.float32))["mean"] == pytest.approx(3.0)
    assert next(made.predict(np.float32([[2.0]]))) == {"scaled": pytest.approx(6.0)}
    assert made.predict(np.float32([[2.0]]), as_iterable=False)["scaled"] == pytest.approx(6.0)


def test_the_loss_is_a_mean_and_gradients_may_be_clipped(tmp_path):
    column = tf.contrib.layers.real_valued_column("x")
    descent = tf.train.GradientDescentOptimizer(1.0)
    made = learn.LinearRegressor([column], str(tmp_path), optimizer=descent, gradient_clip_norm=0.5)
    x, y = {"x": np.zeros([4, 1], np.float32)}, np.full(4, 2.0, np.float32)
    assert made.fit(x, y, steps=1).get_variable_value("linear/linear_model/bias_weights") == pytest.approx(0.5)
    assert made.evaluate(x, y)["loss"] == pytest.approx(1.5**2)
    with pytest.raises(ValueError, match="_joint_weights"):
        learn.LinearRegressor([column], str(tmp_path), _joint_weights=True)
    with pytest.raises(ValueError, match="feed_fn="):
        made.evaluate(x, y, feed_fn=dict)


def test_wide_and_deep_models(tmp_path):
    wide = tf.contrib.layers.sparse_column_with_integerized_feature("first", 2)
    deep = tf.contrib.layers.real_valued_column("second")
    given = {
        "linear_feature_columns": [wide],
        "dnn_feature_columns": [deep],
        "dnn_hidden_units": [3],
        "linear_optimizer": tf.train.GradientDescentOptimizer(1.0),
        "gradient_clip_norm": 5.0,
        "fix_global_step_increment_bug": True,
    }

    def inputs():
        return {"first": tf.constant(X[:, :1].astype(np.int64)), "second": tf.constant(X[:, 1:])}, tf.constant(Y)

    def numbers():
        features, labels = inputs()
        return features, tf.cast(labels, tf.float32)

    classifier = learn.DNNLinearCombinedClassifier(str(tmp_path / "c"), **given)
    classifier.fit(input_fn=inputs, steps=20)
    accuracy = learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, prediction_key="classes")
    found = classifier.evaluate(input_fn=inputs, steps=1, metrics={"right": accuracy})
    assert found["right"] == found["accuracy"] == 1.0 and found["global_step"] == 20
    regressor = learn.DNNLinearCombinedRegressor(str(tmp_path / "r"), **given)
    regressor.fit(input_fn=numbers, steps=20)
    error = learn.MetricSpec(tf.contrib.metrics.streaming_mean_squared_error)
    found = regressor.evaluate(input_fn=numbers, steps=1, metrics={"error": error})
    np.testing.assert_allclose(found["error"], found["loss"], rtol=1e-5)


def test_columns_of_what_an_input_function_gives():
    first, second = learn.infer_real_valued_columns_from_input_fn(
        lambda: ({"b": tf.zeros([5, 3]), "a": tf.zeros([5], tf.int32)}, None)
    )
    assert (first.key, first.shape, second.key, second.shape) == ("a", (), "b", (3,)) and first.dtype == tf.int32
    with pytest.raises(ValueError, match="no type of real values"):
        learn.infer_real_valued_columns_from_input_fn(lambda: {"s": tf.constant(["text"])})


def test_tables_in_files(tmp_path):
    base = learn.datasets.base
    path = tmp_path / "table.csv"
    path.write_text("2,3,setosa,virginica\n1.5,2,3,0\n4,5,6,1\n")
    table = base.load_csv_with_header(str(path), np.int32, np.float32)
    np.testing.assert_array_equal(table.data, np.float32([[1.5, 2, 3], [4, 5, 6]]))
    np.testing.assert_array_equal(table.target, np.int32([0, 1]))
    path.write_text("0,1.5,2\n1,4,5\n")
    data, target = base.load_csv_without_header(str(path), np.int32, np.float32, target_column=0)
    assert (data.tolist(), target.tolist(), data.dtype, target.dtype) == ([[1.5, 2], [4, 5]], [0, 1], np.float32, np.int32)
    path.write_text("3,2\n1,2,0\n")
    with pytest.raises(ValueError, match="says \\(examples, features\\) = \\(3, 2\\)"):
        base.load_csv_with_header(str(path), np.int32, np.float32)


def test_of_an_input_without_end_one_batch_is_predicted(tmp_path):
    regressor = learn.LinearRegressor([tf.feature_column.numeric_column("x")], str(tmp_path))

    def data():
        return {"x": tf.constant([[1.0], [2.0]])}, tf.constant([[1.0], [2.0]])

    regressor.fit(input_fn=data, steps=1)
    assert len(list(regressor.predict(input_fn=data))) == 2

    def ending():
        return tf.data.Dataset.from_tensor_slices({"x": np.ones([3, 1], np.float32)}).batch(2)

    assert len(list(regressor.predict(input_fn=ending))) == 3


def test_tables_of_embeddings_are_cut_from_the_size_on_that_is_asked_for(tmp_path, monkeypatch):
    cluster = {"chief": ["a:1"], "ps": ["b:1", "c:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "chief", "index": 0}}))
    ids = tf.feature_column.categorical_column_with_identity("ids", 40)
    columns = [tf.feature_column.embedding_column(ids, 3)]
    for size, rows in ((None, [40]), (16, [20, 20])):
        for model in (
            learn.DNNClassifier([2], columns, str(tmp_path), input_layer_min_slice_size=size),
            learn.DNNLinearCombinedRegressor(
                str(tmp_path), dnn_feature_columns=columns, dnn_hidden_units=[2], input_layer_min_slice_size=size
            ),
        ):
            with tf.Graph().as_default():
                model.estimator.model_fn({"ids": tf.constant([[1]])}, None, "infer", model.config)
                tables = [v for v in tf.global_variables() if "embedding" in v.name]
            assert [table.shape.as_list() for table in tables] == [[count, 3] for count in rows]


def test_points_are_grouped(tmp_path):
    points = np.float32([[0, 0], [0, 2], [8, 8], [9, 9]])

    def data():
        return {"y": tf.constant(points[:, 1:]), "x": tf.constant(points[:, :1])}, None

    centers = points[[0, 2]]
    groups = learn.KMeansClustering(2, str(tmp_path), initial_clusters=centers, use_mini_batch=False)
    groups.fit(input_fn=data, steps=3)
    np.testing.assert_allclose(groups.clusters(), [[0, 1], [8.5, 8.5]], atol=1e-5)
    assert list(groups.predict_cluster_idx(input_fn=data)) == [0, 0, 1, 1]
    assert groups.score(input_fn=data, steps=1) == pytest.approx(1 + 1 + 0.5 + 0.5)
    np.testing.assert_allclose(groups.transform(input_fn=data).min(1), [1, 1, 0.5, 0.5], atol=1e-5)
