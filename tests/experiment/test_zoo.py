"""Every model of the zoo keeps to the conformance suite, and learns what it is for."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

import tfexp as tf
from tfexp.experiment.build import build
from tfexp.experiment.composing import settings_of
from tfexp.experiment.conformance import ModelConformance
from tfexp.experiment.datasets.corpus import GROUPS, Corpus, vocabulary
from tfexp.experiment.datasets.dataset import Spec, prepare
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.history import Record
from tfexp.experiment.objective import Objective
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.runner import Experiment, Origin
from tfexp.experiment.watching import Watch


class Accurate(ModelConformance):
    least: float
    steps = 100

    def learned(self, before: Record, after: Record) -> None:
        assert before["test"]["accuracy"] < 0.3
        assert after["test"]["accuracy"] > self.least


class TestLinreg(ModelConformance):
    words = ("model=linreg", "model.l2=0.001")
    unfit = ("data=digits",)


class TestLogreg(ModelConformance):
    words = ("model=logreg",)
    unfit = ("data=digits", "data=diabetes")


class TestSoftmax(ModelConformance):
    words = ("model=softmax",)
    unfit = ("data=line",)


class TestMlp(Accurate):
    words = ("model=mlp", "optimizer.learning_rate=0.003")
    least = 0.88


class TestCnn(Accurate):
    words = ("model=cnn", "model.dropout=0.2", "optimizer.learning_rate=0.01")
    least = 0.8
    unfit = ("data=breast_cancer", "model.filters=[3,3,3,3]")


class TestLstm(Accurate):
    words = ("model=lstm", "model.dropout=0.1", "optimizer.learning_rate=0.02")
    least = 0.6
    steps = 50
    unfit = ("model.steps=7",)


class TestLayers(Accurate):
    words = ("model=layers", "optimizer.learning_rate=0.01")
    least = 0.8
    unfit = ("data=diabetes",)


class TestLayersOfNumbers(ModelConformance):
    words = (
        "model=layers",
        "data=diabetes",
        "model.layers=[{reshape:[5,2]},{lstm:{units:7,every:true}},flatten,{dropout:0.1}]",
    )


class TestEnsemble(Accurate):
    words = ("model=ensemble", "model.members=3", "model.member.hidden=[13]", "optimizer.learning_rate=0.01")
    least = 0.8
    steps = 100
    unfit = ("model.member.hiden=[13]", "model@model.member=ensemble")

    def test_each_member_is_trained_by_its_own_loss_and_the_average_is_better(self) -> None:
        """Alone or among others, the member that begins with the same values comes to the same ones."""
        values = []
        for members in (1, 2):
            settings = settings_of(["model=ensemble", f"model.members={members}", "model.member.hidden=[7]", "train.seed=3"])
            dataset = prepare(settings.data)
            program = build(settings, dataset)
            first = [variable for variable in program.variables if variable.op.name.startswith("model/member1/")]
            trained = [variable for variable in first if variable.op.name in program.trained]
            drawn = np.random.RandomState(5)
            with tf.Session(graph=program.graph) as session:
                session.run(program.initialize)
                for variable in trained:
                    variable.load(drawn.randn(*variable.shape.as_list()).astype(np.float32), session)
                feeds = {program.features: dataset.train.features[:31], program.labels: dataset.train.labels[:31]}
                for _ in range(3):
                    session.run(program.train, feeds)
                values.append(session.run(trained))
        for alone, among in zip(*values, strict=True):
            np.testing.assert_allclose(among, alone, rtol=1e-6)


class TestWord2vec(ModelConformance):
    words = ("model=word2vec", "data.sentences=300", "optimizer.learning_rate=1", "train.batch_size=64")
    steps = 100
    unfit = ("data=digits", "data.standardize=true")

    def learned(self, before: Record, after: Record) -> None:
        assert before["test"]["top5"] < 0.15
        assert after["test"]["top5"] > 0.25

    def test_its_gradients_are_sparse(self) -> None:
        settings = self.settings()
        program = build(settings, prepare(settings.data))
        updates = [op.type for op in program.graph.get_operations() if "ApplyAdagrad" in op.type]
        assert sorted(updates) == ["SparseApplyAdagrad"] * 3

    def test_words_that_take_each_others_places_come_to_lie_together(self, tmp_path: Path) -> None:
        settings = self.settings(steps=500)
        assert isinstance(settings.data, Corpus)
        with contextlib.closing(RunFolder.create(tmp_path / "run", exactly=True)) as folder:
            watch = Watch()
            watch.draws = False
            Experiment.of(settings).run(folder, Origin("", "", ()), watch=watch)
        path = tf.train.latest_checkpoint(str(tmp_path / "run" / "checkpoints"))
        embeddings = tf.train.load_checkpoint(path).get_tensor("model/embeddings")
        embeddings /= np.linalg.norm(embeddings, axis=1, keepdims=True)
        words = vocabulary(settings.data.text())
        group_of = {word: name for name, group in GROUPS.items() for word in group}
        near = embeddings @ embeddings.T - 2 * np.eye(len(words))
        right = [
            group_of.get(words[near[at].argmax()]) == group_of[word] for at, word in enumerate(words) if word in group_of
        ]
        assert np.mean(right) > 0.9

    def test_numbers_that_are_no_words_are_named(self) -> None:
        with pytest.raises(
            ExperimentError, match=r"^model: Word2vec takes numbers of words, 0 to 4, and this data has 2.5 among its"
        ):
            self.settings().model.check_rows(np.array([[0], [2.5]], np.float32), Spec(1, 5))


class TestGan(ModelConformance):
    words = ("model=gan", "data.points=400", "optimizer.learning_rate=0.003")
    steps = 200
    unfit = ("model.generator=[]",)

    def learned(self, before: Record, after: Record) -> None:
        assert after["test"]["energy_distance"] < before["test"]["energy_distance"] / 2

    def test_each_network_follows_its_own_loss(self) -> None:
        model, spec = self.settings().model, Spec(2, 3)
        with tf.Graph().as_default():
            tf.train.get_or_create_global_step()
            with tf.variable_scope("model"):
                judged = model.outputs(tf.ones([7, 2]), spec)
            losses = model.loss(judged, tf.zeros([7], tf.int64), spec)
            pairs = Objective.of(losses).gradients(tf.train.GradientDescentOptimizer(1.0))
            assert {variable.op.name for _, variable in pairs} == {v.op.name for v in tf.trainable_variables()}
            expected = [tf.gradients(losses.minimized[variable.op.name.split("/")[1]], variable)[0] for _, variable in pairs]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found, own = session.run([[gradient for gradient, _ in pairs], expected])
        for one, other in zip(found, own, strict=True):
            np.testing.assert_array_equal(one, other)
        assert len(pairs) == 12, "the discriminator has its variables once"
