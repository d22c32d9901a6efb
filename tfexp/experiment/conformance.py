"""What every model, data set and input keeps to, as test classes to subclass; pytest finds their tests.

    from tfexp.experiment.conformance import ModelConformance

    class TestWide(ModelConformance):
        words = ("model=own", "model.target=mypackage.nets:Wide", "model.width=16", "data=line")

`words` are those of the command line. Every model, data set and input of tfexp passes the same suites.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import tfexp as tf
from tfexp.experiment.build import build, session_config
from tfexp.experiment.compare import compare
from tfexp.experiment.composing import settings_of
from tfexp.experiment.datasets.dataset import Dataset, Examples, Spec, prepare
from tfexp.experiment.errors import ExperimentError
from tfexp.experiment.history import Record, read_records
from tfexp.experiment.inputs.input import Batches, Input, Share
from tfexp.experiment.outputs import RunFolder
from tfexp.experiment.runner import Experiment, Origin
from tfexp.experiment.schema import Settings
from tfexp.experiment.transfer import from_plain, to_plain
from tfexp.experiment.watching import Watch

Step = Callable[[], tuple[np.ndarray, np.ndarray]]

__all__ = ["DataConformance", "InputConformance", "ModelConformance"]


class ModelConformance:
    """What a model keeps to.

    `words` choose the model, its settings and its data. It has learned after `steps` if `learned` does not complain.
    `unfit` has further words, each of which must be refused, before anything is built, with a message of one line.
    """

    words: ClassVar[tuple[str, ...]]
    steps: ClassVar[int] = 60
    unfit: ClassVar[tuple[str, ...]] = ()

    def learned(self, before: Record, after: Record) -> None:
        """Raises AssertionError unless the second evaluation, after `steps`, is as much better as it should be."""
        assert after["train"]["loss"] < before["train"]["loss"]

    def settings(self, **train: Any) -> Settings:
        """What `words` choose, with these changes of `train`."""
        chosen = _chosen(self.words)
        course = {"steps": self.steps, "epochs": None, "eval_every": 0, "checkpoint_every": 0, **train}
        return replace(chosen, train=replace(chosen.train, **course))

    def test_its_settings_reach_other_processes(self) -> None:
        settings = self.settings()
        assert from_plain(json.loads(json.dumps(to_plain(settings)))) == settings

    def test_its_graph_takes_any_number_of_rows(self) -> None:
        settings = self.settings()
        dataset = settings.input.prepare(prepare(settings.data))
        program = build(settings, dataset)
        assert program.trained, "a model has variables to train"
        assert all(name.startswith("model/") for name in program.trained), "they are made by tf.get_variable"
        fetches = {"loss": program.objective, **program.metrics}
        for name, tensor in fetches.items():
            assert tensor.dtype == tf.float32, name
            assert tensor.get_shape().rank == 0, name
        with tf.Session(graph=program.graph, config=session_config(settings)) as session:
            session.run(program.initialize)
            before = session.run(program.variables)
            for rows in (1, 2, dataset.train.rows):
                feeds = {program.features: dataset.train.features[:rows], program.labels: dataset.train.labels[:rows]}
                first, again = (session.run(fetches, {**feeds, **program.evaluating}) for _ in range(2))
                assert all(np.isfinite(value) for value in first.values()), first
                assert first == again, "evaluations are repeatable"
            for variable, old, new in zip(program.variables, before, session.run(program.variables), strict=True):
                np.testing.assert_array_equal(new, old, f"an evaluation changes {variable.op.name}")

    def test_it_learns_and_goes_on_to_the_same_numbers(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            whole, halves = Path(name) / "whole", Path(name) / "halves"
            result = _run(self.settings(), whole)
            records = read_records(whole / "metrics.jsonl")
            self.learned(records[0], records[-1])
            _run(self.settings(steps=self.steps // 2), halves)
            resumed = _run(self.settings(), halves, resume=True)
        found = compare(result["numbers"], resumed["numbers"], [], None)
        assert [number for number in found if not number.agrees] == [], "stopped at half of the way and gone on"

    def test_it_refuses_what_it_cannot_learn(self) -> None:
        for word in self.unfit:
            said = ""
            try:
                Experiment.of(settings_of([*self.words, word]))
            except ExperimentError as error:
                said = str(error)
            assert said, f"{word} is not refused"
            assert "\n" not in said


class DataConformance:
    """What a data set keeps to; `words` choose it and its settings."""

    words: ClassVar[tuple[str, ...]]

    def dataset(self) -> Dataset:
        return prepare(_chosen(self.words).data)

    def test_it_is_the_same_each_time(self) -> None:
        first, again = self.dataset(), self.dataset()
        assert first.digest == again.digest
        for one, other in ((first.train, again.train), (first.test, again.test)):
            np.testing.assert_array_equal(one.features, other.features)
            np.testing.assert_array_equal(one.labels, other.labels)

    def test_its_parts_are_what_models_expect(self) -> None:
        dataset = self.dataset()
        spec = dataset.spec
        assert len(dataset.columns) == spec.width
        for part in (dataset.train, dataset.test):
            assert part.rows > 0
            assert part.features.dtype == np.float32
            assert part.features.shape == (part.rows, spec.width)
            assert np.isfinite(part.features).all()
            if spec.classes is None:
                assert part.labels.dtype == np.float32
                assert part.labels.shape == (part.rows, 1)
                assert np.isfinite(part.labels).all()
            else:
                assert part.labels.dtype == np.int64
                assert part.labels.shape == (part.rows,)
                assert 0 <= part.labels.min() <= part.labels.max() < spec.classes


class InputConformance:
    """What an input keeps to; `words` choose it and its settings.

    `in_order`: the batches are those of input=feed, in their order. Else each row is still in one batch of an epoch at most.
    """

    words: ClassVar[tuple[str, ...]]
    in_order: ClassVar[bool] = True
    rows: ClassVar[int] = 53
    batch_size: ClassVar[int] = 4

    def test_batches_have_the_rows_and_labels_of_the_data(self) -> None:
        for classes in (None, 7):
            dataset = self._dataset(classes)
            with self._running(dataset, 0) as step:
                for _ in range(3):
                    features, labels = step()
                    rows = features[:, 0].astype(int)
                    np.testing.assert_array_equal(features, dataset.train.features[rows])
                    np.testing.assert_array_equal(labels, dataset.train.labels[rows])

    def test_an_epoch_has_each_row_once(self) -> None:
        per_epoch = self.rows // self.batch_size
        with self._running(self._dataset(7), 0) as step:
            for _ in range(2):
                seen = np.concatenate([step()[0][:, 0] for _ in range(per_epoch)])
                assert len(set(seen.tolist())) == per_epoch * self.batch_size

    def test_it_can_begin_anywhere(self) -> None:
        if not self.in_order:
            return
        dataset, begin = self._dataset(7), self.rows // self.batch_size - 2
        share = Share(dataset, self.batch_size, 11)
        with self._running(dataset, begin) as step:
            for number in range(begin, begin + 5):
                np.testing.assert_array_equal(step()[0], dataset.train.features[share.rows(number)])

    def test_workers_share_an_epoch(self) -> None:
        per_epoch = self.rows // self.batch_size
        seen: list[np.ndarray] = []
        for worker in range(2):
            with self._running(self._dataset(7), 0, worker, 2) as step:
                seen += [step()[0][:, 0] for _ in range(per_epoch // 2)]
        rows = np.concatenate(seen).tolist()
        assert len(set(rows)) == len(rows)

    def _dataset(self, classes: int | None) -> Dataset:
        """Rows whose first feature is their number."""
        features = np.arange(self.rows * 3, dtype=np.float32).reshape(self.rows, 3)
        features[:, 0] = np.arange(self.rows)
        numbers = np.arange(self.rows)
        labels = numbers.astype(np.float32)[:, None] / 2 if classes is None else numbers % classes
        part = Examples(features, labels)
        return Dataset(part, part, Spec(3, classes), ("a", "b", "c"), "numbered rows", "0" * 64)

    @contextlib.contextmanager
    def _running(self, dataset: Dataset, begin: int, worker: int = 0, workers: int = 1) -> Iterator[Step]:
        """A function that makes a step and returns its features and labels."""
        given: Input = _chosen(self.words).input
        with tf.Graph().as_default() as graph, contextlib.ExitStack() as stack:
            share = Share(given.prepare(dataset), self.batch_size, 11, worker, workers)
            with tf.name_scope("input"):
                batches: Batches = given.batches(share)
            session = stack.enter_context(tf.Session(graph=graph))
            stack.callback(batches.stop)
            batches.start(session, begin)
            yield lambda: session.run((batches.features, batches.labels), batches.next_feeds())


@functools.cache
def _chosen(words: tuple[str, ...]) -> Settings:
    return settings_of(list(words))


class _Undrawn(Watch):
    """Lets a run go on to its end, and draw nothing."""

    draws = False


def _run(settings: Settings, path: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train in the folder, saying nothing; what `result.json` holds."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.closing(RunFolder.open(path) if resume else RunFolder.create(path, exactly=True)) as folder,
    ):
        return Experiment.of(settings).run(folder, Origin("conformance", "", ()), resume=resume, watch=_Undrawn())
