"""The config group `input`: the same batches however they come, each row once, and a position that is not lost."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import numbers
from test_resuming import MLP, at_step

import tfexp as tf
from tests.distributed import clusters
from tfexp.experiment.datasets.dataset import Dataset, Examples, Spec
from tfexp.experiment.inputs.feed import Feed
from tfexp.experiment.inputs.from_memory import FromMemory
from tfexp.experiment.inputs.from_records import FromRecords
from tfexp.experiment.inputs.input import Batches, Input, Share
from tfexp.experiment.inputs.preload import Preload
from tfexp.experiment.inputs.queue_runners import Queue
from tfexp.experiment.recording import write_records

ROWS, WIDTH, SIZE = 53, 3, 4
PER_EPOCH = ROWS // SIZE


def data(classes: int | None = 7, rows: int = ROWS) -> Dataset:
    """Rows whose first feature is their number."""
    features = np.arange(rows * WIDTH, dtype=np.float32).reshape(rows, WIDTH)
    features[:, 0] = np.arange(rows)
    numbers = np.arange(rows)
    labels = np.float32(numbers)[:, None] / 2 if classes is None else numbers % classes
    part = Examples(features, labels)
    return Dataset(part, Examples(features[:2], labels[:2]), Spec(WIDTH, classes), ("a", "b", "c"), "rows", "0" * 64)


def tfrecord(cache: Path, **given: Any) -> FromRecords:
    return FromRecords(
        **{"files": (), "cache": str(cache), "shards": 5, "shuffle": 1000, "ignore_errors": False, "prefetch": 0, **given}
    )


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Input]:
    return {
        "feed": Feed(),
        "preload": Preload(),
        "queue": Queue(capacity=3, threads=1),
        "dataset": FromMemory(prefetch=0),
        "dataset with a thread": FromMemory(prefetch=2),
        "tfrecord": tfrecord(tmp_path),
        "tfrecord with a thread": tfrecord(tmp_path, prefetch=2),
    }


def flat(batches: list[list[int]]) -> list[int]:
    return list(itertools.chain.from_iterable(batches))


@dataclass
class Running:
    """One worker's pipeline in a session."""

    batches: Batches
    session: tf.Session
    saver: tf.train.Saver | None

    def next(self, steps: int) -> list[tuple[np.ndarray, np.ndarray]]:
        parts = (self.batches.features, self.batches.labels)
        return [self.session.run(parts, self.batches.next_feeds()) for _ in range(steps)]

    def rows(self, steps: int) -> list[list[int]]:
        """The numbers of the rows in each of the next batches, after a look at whether all parts of them are theirs."""
        found = []
        for features, labels in self.next(steps):
            rows = features[:, 0].astype(int)
            np.testing.assert_array_equal(features[:, 1], rows * WIDTH + 1)
            np.testing.assert_array_equal(labels, rows % 7)
            found.append(rows.tolist())
        return found


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    """`running(input, dataset, begin, worker, workers)`: the pipeline, begun; stopped at the end of the test."""
    began: list[Running] = []

    def run(
        given: Input, dataset: Dataset | None = None, begin: int = 0, worker: int = 0, workers: int = 1, size: int = SIZE
    ) -> Running:
        with tf.Graph().as_default() as graph:
            share = Share(given.prepare(data() if dataset is None else dataset), size, 11, worker, workers)
            with tf.name_scope("input"):
                batches = given.batches(share)
            saver = tf.train.Saver(list(batches.saved)) if batches.saved else None
            session = tf.Session(graph=graph)
        batches.start(session, begin)
        began.append(Running(batches, session, saver))
        return began[-1]

    yield run
    for each in began:
        each.batches.stop()
        each.session.close()


NAMES = ["feed", "preload", "queue", "dataset", "dataset with a thread", "tfrecord", "tfrecord with a thread"]


@pytest.mark.parametrize("name", NAMES[1:])
def test_batches_are_those_of_feed(name: str, inputs: dict[str, Input], running: Callable[..., Running]) -> None:
    for begin in (0, 5, PER_EPOCH, 3 * PER_EPOCH + 1):
        expected = running(inputs["feed"], begin=begin).rows(2 * PER_EPOCH + 3)
        assert running(inputs[name], begin=begin).rows(2 * PER_EPOCH + 3) == expected
    assert sorted(flat(expected[PER_EPOCH - 1 : 2 * PER_EPOCH - 1])) != list(range(ROWS)), "some rows are left over"


@pytest.mark.parametrize("name", NAMES)
def test_labels_that_are_numbers_come_as_a_column(
    name: str, inputs: dict[str, Input], running: Callable[..., Running]
) -> None:
    ((features, labels),) = running(inputs[name], data(None)).next(1)
    assert labels.shape == (SIZE, 1) and labels.dtype == np.float32
    np.testing.assert_array_equal(labels[:, 0] * 2, features[:, 0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("workers", [2, 3])
def test_workers_share_an_epoch_without_overlap_or_gap(
    name: str, workers: int, inputs: dict[str, Input], running: Callable[..., Running]
) -> None:
    whole = running(inputs["feed"], begin=5).rows(4 * workers)
    shares = [running(inputs[name], begin=5, worker=worker, workers=workers).rows(4) for worker in range(workers)]
    assert [rows for turn in zip(*shares, strict=True) for rows in turn] == whole


@pytest.mark.parametrize("shards", [1, 5, 6])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_streams_bring_each_row_once_in_an_epoch(
    shards: int, workers: int, tmp_path: Path, running: Callable[..., Running]
) -> None:
    """With batches of one row none is left over: what all workers get in an epoch can be counted."""
    given = tfrecord(tmp_path, shards=shards, shuffle=10)
    workers_rows = [running(given, worker=w, workers=workers, size=1) for w in range(workers)]
    orders = []
    for epoch in range(3):
        counts = [each.batches._batches(epoch) for each in workers_rows]
        assert sum(counts) == ROWS
        found = [flat(each.rows(count)) for each, count in zip(workers_rows, counts, strict=True)]
        assert sorted(flat(found)) == list(range(ROWS)), "no row twice, and none missing"
        orders.append(found)
    assert orders[0] != orders[1] != orders[2]
    again = running(given, worker=0, workers=workers, size=1)
    assert flat(again.rows(len(orders[0][0]))) == orders[0][0], "the same order for the same seed"


def test_a_stream_shuffles_files_and_rows(tmp_path: Path, running: Callable[..., Running]) -> None:
    given = tfrecord(tmp_path, shards=6, shuffle=10)
    order = flat(running(given, size=1).rows(ROWS))
    first = order[:10]
    assert sorted(first) != first, "rows are shuffled"
    assert max(order[:20]) - min(order[:20]) < ROWS - 1, "near each other: only what is read together is"
    assert order != list(range(ROWS))


@pytest.mark.parametrize("begin", [1, PER_EPOCH - 1, PER_EPOCH, PER_EPOCH + 2, 4 * PER_EPOCH])
def test_a_stream_begins_anywhere(begin: int, tmp_path: Path, running: Callable[..., Running]) -> None:
    given = tfrecord(tmp_path, shuffle=10)
    expected = running(given).rows(begin + 20)[begin:]
    assert running(given, begin=begin).rows(20) == expected


@pytest.mark.parametrize("name", ["dataset", "dataset with a thread", "tfrecord", "tfrecord with a thread", "stream"])
@pytest.mark.parametrize("made", [0, 1, 7, 2 * PER_EPOCH])
def test_a_checkpoint_holds_the_position(
    name: str, made: int, inputs: dict[str, Input], running: Callable[..., Running], tmp_path: Path
) -> None:
    given = tfrecord(tmp_path, shuffle=10) if name == "stream" else inputs[name]
    first = running(given)
    first.rows(made)
    assert first.saver is not None
    path = first.saver.save(first.session, str(tmp_path / "position"))
    expected = first.rows(2 * PER_EPOCH)

    other = running(given, begin=made)
    assert other.saver is not None
    other.saver.restore(other.session, path)
    assert other.rows(2 * PER_EPOCH) == expected


def test_a_chunk_may_end_at_a_checkpoint(running: Callable[..., Running], tmp_path: Path) -> None:
    """The position is then the end of a chunk: what follows is the beginning of the next one."""
    given = FromMemory(prefetch=0)
    first = running(given, size=29)  # one batch to an epoch
    chunk = first.batches._chunk_batches
    first.rows(chunk)
    assert first.saver is not None
    path = first.saver.save(first.session, str(tmp_path / "position"))
    resumed = running(given, begin=chunk, size=29)
    assert resumed.saver is not None
    resumed.saver.restore(resumed.session, path)
    assert resumed.rows(3) == first.rows(3) == running(Feed(), begin=chunk, size=29).rows(3)


def test_several_threads_lose_nothing(running: Callable[..., Running]) -> None:
    rows = running(Queue(capacity=8, threads=3)).rows(PER_EPOCH)
    later = running(Feed()).rows(PER_EPOCH + 8 + 3)
    assert all(batch in later for batch in rows), "of the batches that come first, if in another order"
    assert len({tuple(batch) for batch in rows}) == PER_EPOCH, "none twice"


def test_a_queue_tells_what_its_thread_died_of(running: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Share, "rows_of", lambda self, numbers: np.full((len(numbers), SIZE), 999))
    broken = running(Queue(capacity=2, threads=1))
    with pytest.raises(tf.errors.OpError) as caught:
        broken.next(1)
    problem = broken.batches.explain(caught.value)
    assert problem is not None
    assert "999" in str(problem)
    assert str(problem).startswith("input=queue: ")


def test_memory_stays_flat_however_many_rows_there_are(tmp_path: Path, running: Callable[..., Running]) -> None:
    """Four times the data takes no more memory."""
    part = data(rows=1000)
    wide = Examples(np.repeat(part.train.features[:, :1], 250, axis=1), part.train.labels)
    whole = Dataset(wide, Examples(wide.features[:1], wide.labels[:1]), Spec(250, 7), ("x",) * 250, "wide", "0" * 64)
    write_records(whole, tmp_path / "0", 2, "")
    for number in range(1, 12):
        shutil.copytree(tmp_path / "0", tmp_path / str(number))

    def most(repeated: int) -> tuple[int, int]:
        given = tfrecord(tmp_path, files=tuple(str(tmp_path / str(number)) for number in range(repeated)), shuffle=100)
        pipeline = running(given, whole, size=20)
        tracemalloc.start()
        try:
            features = 0
            for _ in range(50 * repeated):
                ((batch, _),) = pipeline.next(1)
                features += batch.nbytes
            return tracemalloc.get_traced_memory()[1], features
        finally:
            tracemalloc.stop()

    three, _ = most(3)
    twelve, read = most(12)
    assert twelve < 1.1 * three
    assert twelve < read / 2, "less than half of what was read was ever in memory"


@pytest.mark.parametrize(
    "words",
    [
        ["input=preload"],
        ["input=queue", "input.capacity=5"],
        ["input=dataset"],
        ["input=dataset", "input.prefetch=3"],
        ["input=tfrecord"],
        ["input=tfrecord", "input.shuffle=100"],
    ],
    ids=" ".join,
)
def test_a_run_goes_on_with_the_very_next_batch(
    words: list[str], cli: Callable, ran: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        at_step(patch, 47, lambda: os.kill(os.getpid(), signal.SIGINT))
        assert cli(*MLP, *words, "hydra.run.dir=part").code == 130
    ended = cli("resume=part")
    assert ended.code == 0, ended.err
    whole = ran("whole", *MLP, *(words if words[-1] == "input.shuffle=100" else ["input=feed"]))
    assert numbers(tmp_path / "part") == numbers(whole), "the same numbers, to the bit"
    assert (tmp_path / "part" / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()


EVERY = {
    "linreg": ["data=line"],
    "logreg": ["data=breast_cancer", "optimizer=momentum"],
    "softmax": ["data=digits", "train.batch_size=57"],
    "mlp": ["data=csv", "data.path=flowers.csv", "data.label=kind", "data.classes=3", "train.batch_size=null"],
}
"""For each model of the zoo some data, which together are all; diabetes is the default of what else is tested."""


@pytest.mark.parametrize("model", EVERY)
def test_every_model_and_data_set_takes_every_input(model: str, cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "flowers.csv").write_text("width,height,kind\n" + "".join(f"{i % 7},{i % 5},{i % 3}\n" for i in range(47)))
    words = [f"model={model}", *EVERY[model], "train.steps=40", "train.checkpoint_every=0"]
    for choice in ("feed", "preload", "queue", "dataset", "tfrecord"):
        ended = cli(*words, f"input={choice}", f"hydra.run.dir={choice}")
        assert ended.code == 0, ended.err
        assert numbers(tmp_path / choice) == numbers(tmp_path / "feed")


@pytest.fixture(scope="module")
def static() -> Iterator[list[str]]:
    """Servers that run already, as a cluster."""
    with clusters.running(ps=1, worker=2) as servers:
        ps, *workers = (servers[name].address for name in ("ps:0", "worker:0", "worker:1"))
        yield ["cluster=static", f"cluster.ps_hosts=[{ps}]", f"cluster.worker_hosts=[{','.join(workers)}]"]


@pytest.mark.parametrize(
    ("words", "apart"), [(["input=queue"], True), (["input=dataset"], False), (["input=tfrecord", "input.shuffle=9"], False)]
)
def test_servers_that_run_already_take_every_input_again(
    words: list[str], apart: bool, static: list[str], cli: Callable, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What runs before left in the servers is not in the way of the next, of the same input or another."""
    for run in ("one", "two"):
        if run == "two" or not apart:  # the servers' clients, as processes of their own, take most of the time
            request.getfixturevalue("tasks_are_threads")
        ended = cli("model=softmax", *words, *static, "train.steps=60", "train.summary_every=20", f"hydra.run.dir={run}")
        assert ended.code == 0, ended.err
        assert numbers(tmp_path / run)["step"] == 60
        assert numbers(tmp_path / run)["test"]["accuracy"] > 0.8
        events = (str(path) for path in (tmp_path / run).glob("events.*"))
        tags = [value.tag for event in tf.train.summary_iterator(next(events)) for value in event.summary.value]
        assert "summaries/batch_loss" in tags, "the batch that was summarized is one that was trained on"
    if words == ["input=dataset"]:
        assert_nodes_are_where_they_belong((tmp_path / "two" / "graph.pbtxt").read_text())


def assert_nodes_are_where_they_belong(graph: str) -> None:
    """The rows belong to the worker, though they are variables; the servers have what is shared."""
    nodes = {node.split('"')[1]: node for node in graph.split("node {")[1:]}
    assert "/job:worker/task:0" in nodes["input/all_features"]
    assert "/job:worker/task:0" in nodes["input/IteratorV2"]
    shared = [node for name, node in nodes.items() if name.startswith("model/") and '"VariableV2"' in node]
    assert shared
    assert all("/job:ps" in node for node in shared)
