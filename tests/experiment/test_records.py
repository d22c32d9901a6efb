"""`python -m tfexp.records` and what reads its folders: whole or not at all, and one clear message for what is wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from run_files import numbers

import tfexp as tf
from tests.processes import started
from tfexp import records
from tfexp.experiment import recording
from tfexp.experiment.datasets.bundled import Digits
from tfexp.experiment.datasets.dataset import prepare
from tfexp.experiment.datasets.recorded import Recorded

ROOT = Path(next(iter(tf.__path__))).parent
SOFTMAX = ["model=softmax", "train.steps=60", "train.eval_every=20"]
FEATURES = {"features": tf.FixedLenFeature([64], tf.float32), "label": tf.FixedLenFeature([], tf.int64)}


@pytest.fixture
def write(cli: Callable, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`write("data=digits", …)`: exit code, output and errors of `python -m tfexp.records data=digits …`, in `tmp_path`."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = records.main(list(words))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="module")
def written_digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "digits"
    assert records.main(["data=digits", f"out={folder}"]) == 0
    return folder


@pytest.fixture
def digits(written_digits: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written_digits, tmp_path / "digits"))


def test_a_folder_holds_all_rows_in_order_and_says_so(write: Callable, tmp_path: Path) -> None:
    code, out, err = write("data=digits", "out=some/digits", "shards=3")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[-2] == "writing scikit-learn's digits: 1797/1797 rows"
    assert lines[-1] == "1438 rows to train on in 3 files and 359 to test on: some/digits"
    folder = tmp_path / "some" / "digits"
    train = [f"train-{number:05}-of-00003.tfrecord" for number in range(3)]
    assert sorted(path.name for path in folder.iterdir()) == ["description.json", "test-00000-of-00001.tfrecord", *train]
    assert [path.name for path in folder.parent.iterdir()] == ["digits"], "nothing unfinished is left"

    expected = prepare(Digits(standardize=True, test_fraction=0.2, split_seed=0))
    with tf.Graph().as_default(), tf.Session() as session:
        for files, rows in ((train, expected.train), (["test-00000-of-00001.tfrecord"], expected.test)):
            read = [record for file in files for record in tf.python_io.tf_record_iterator(str(folder / file))]
            found = session.run(tf.parse_example(np.array(read, object), FEATURES))
            np.testing.assert_array_equal(found["features"], rows.features)
            np.testing.assert_array_equal(found["label"], rows.labels)
    said = json.loads((folder / "description.json").read_text())
    assert said["spec"] == {"width": 64, "classes": 10, "label_scale": 1.0, "label_shift": 0.0, "class_names": []}
    assert [part["rows"] for part in said["train"]] == [479, 479, 480]
    assert said["data_sha256"] == expected.digest


def test_what_is_there_is_not_written_over(write: Callable, digits: Path) -> None:
    before = {path.name: path.read_bytes() for path in digits.iterdir()}
    code, out, err = write("data=diabetes", "out=digits")
    assert (code, out) == (1, "")
    assert err == "tfexp: digits is there already: choose another folder, or remove it first\n"
    assert {path.name: path.read_bytes() for path in digits.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["data=digits"], 2, "out: give the folder to write: out=<folder>"),
        (
            ["data=digit", "out=x"],
            2,
            "data (conf/data): there is no choice 'digit'; did you mean 'digits'? The choices are: ",
        ),
        (["data=csv", "data.path=no.csv", "data.label=y", "out=x"], 1, "data.path: no.csv cannot be read: No such file"),
        (["data=line", "data.points=x", "out=x"], 2, "data.points: 'x' is not a whole number"),
        (["data=digits,line", "out=x"], 2, "data: 'data=digits,line' is several values"),
        (["model=mlp", "out=x"], 2, "there is no setting 'model'. The choices are: compression, data, out, shards"),
        (["out=x", "shards=0"], 2, "shards: '0' is not a whole number of at least 1"),
        (["out=x", "shards=1000"], 2, "shards: 1000 is more than the 354 training rows"),
        (["out=x", "compression=zip"], 2, "compression: there is no choice 'zip'; did you mean 'gzip'?"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line(
    words: list[str], code: int, message: str, write: Callable, tmp_path: Path
) -> None:
    ended = write(*words)
    assert ended[0] == code
    assert ended[2].startswith(f"tfexp: {message}"), ended[2]
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fails_leaves_nothing(write: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def rows(part: object, spec: object) -> object:
        yield b"a record"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recording, "examples", rows)
    assert write("data=line", "out=some/line") == (1, "", "tfexp: cannot write some/line: No space left on device\n")
    assert not list((tmp_path / "some").iterdir())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_no_half_folder(number: signal.Signals, code: int, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tfexp.records", "data=line", "data.points=200000", "out=line"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with started(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert re.match(r"writing y = 2x \+ noise: \d+/200000 rows", process.stdout.readline())
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (code, "tfexp: stopped: nothing was written\n")
    assert not list(tmp_path.iterdir())


def test_runs_read_folders_files_and_globs(write: Callable, cli: Callable, ran: Callable, tmp_path: Path) -> None:
    assert write("data=digits", "out=written")[0] == 0
    fed = numbers(ran("fed", *SOFTMAX, "input=feed"))
    whole = [
        ["data=digits", "input.files=[written]"],
        ["data=digits", "input.files=['written/train-*']"],
        ["data=digits", "input.files=['written/*']"],
    ]
    for number, words in enumerate(whole):
        ended = cli(*SOFTMAX, "input=tfrecord", *words, f"hydra.run.dir={number}")
        assert ended.code == 0, ended.err
        found = numbers(tmp_path / str(number))
        assert found["variables_sha256"] == fed["variables_sha256"], "the rows of the data, in its order"
        assert found["test"] == fed["test"]
        assert found["data_sha256"] == fed["data_sha256"]


@pytest.mark.parametrize("compression", ["none", "gzip", "zlib"])
def test_runs_read_records_into_memory_and_as_they_come(
    compression: str, write: Callable, cli: Callable, ran: Callable, tmp_path: Path
) -> None:
    assert write("data=digits", "out=written", f"compression={compression}")[0] == 0
    fed = numbers(ran("fed", *SOFTMAX, "input=feed"))
    for choice in ("dataset", "tfrecord"):
        ended = cli(*SOFTMAX, "data=records", "data.files=[written]", f"input={choice}", f"hydra.run.dir={choice}")
        assert ended.code == 0, ended.err
        found = numbers(tmp_path / choice)
        assert found["variables_sha256"] == fed["variables_sha256"], "the rows of the data, in its order"
        assert found["test"] == fed["test"]


def test_several_folders_are_one_data_set(write: Callable, cli: Callable, tmp_path: Path) -> None:
    for seed in (0, 1):
        assert write("data=line", f"data.noise_seed={seed}", f"out=line{seed}")[0] == 0
    words = ["data=records", "data.files=[line0,line1]", "input=tfrecord", "train.steps=40", "data.evaluated=30"]
    ended = cli(*words, "hydra.run.dir=run")
    assert ended.code == 0, ended.err
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert (manifest["data"]["train_rows"], manifest["data"]["test_rows"]) == (160, 40)
    assert write("data=diabetes", "out=diabetes")[0] == 0
    ended = cli("data=records", "data.files=[line0,diabetes]", "input=tfrecord")
    assert ended.code == 2
    assert ended.err.startswith("tfexp: data.files: the rows are not all of one kind (y = 2x + noise: Spec(width=1,")


def test_records_of_other_data_are_refused(write: Callable, cli: Callable, digits: Path) -> None:
    ended = cli("model=linreg", "input=tfrecord", "input.files=[digits]")
    assert ended.code == 2
    assert ended.err == (
        "tfexp: input.files: the records of scikit-learn's digits have 64 features and 10 classes, and the data "
        "(scikit-learn's diabetes) has 10 features and numbers as labels: choose the data that they were made from, "
        "or data=records\n"
    )
    ended = cli("model=softmax", "data.split_seed=1", "input=tfrecord", "input.files=[digits]")
    assert ended.code == 2
    assert "some of the rows to test on may be among them" in ended.err


def test_rows_are_written_once_for_all_runs(cli: Callable, tmp_path: Path) -> None:
    words = [*SOFTMAX, "input=tfrecord", "input.cache=kept"]
    assert "writing scikit-learn's digits to kept/" in cli(*words, "hydra.run.dir=1").out
    (folder,) = (tmp_path / "kept").iterdir()
    before = folder.stat().st_mtime_ns
    ended = cli(*words, "optimizer.learning_rate=0.1", "hydra.run.dir=2")
    assert ended.code == 0
    assert "writing" not in ended.out
    assert folder.stat().st_mtime_ns == before
    assert cli(*words, "data.split_seed=1", "hydra.run.dir=3").code == 0
    assert len(list((tmp_path / "kept").iterdir())) == 2, "other rows have another folder"


# --- damage ------------------------------------------------------------------------------------------------------------

SECOND = "train-00001-of-00004.tfrecord"
RECORD = 296 + 16  # bytes


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[15 * RECORD + 100] ^= 1
    file.write_bytes(content)


def rewrite(file: Path, change: Callable[[tf.train.Example], None]) -> None:
    found = [tf.train.Example.FromString(record) for record in tf.python_io.tf_record_iterator(str(file))]
    change(found[17])
    with tf.python_io.TFRecordWriter(str(file)) as writer:
        for example in found:
            writer.write(example.SerializeToString())


def without_description(file: Path, damage: Callable[[Path], object]) -> None:
    (file.parent / "description.json").unlink()
    damage(file)


def shorter(example: tf.train.Example) -> None:
    example.features.feature["features"].float_list.value.pop()


def unlabelled(example: tf.train.Example) -> None:
    del example.features.feature["label"]


def eleventh(example: tf.train.Example) -> None:
    example.features.feature["label"].int64_list.value[0] = 10


def of_text(example: tf.train.Example) -> None:
    example.features.feature["label"].bytes_list.value.append(b"three")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda file: file.unlink(), "{file} is missing: digits/description.json lists it, with 360 rows"),
        (lambda file: file.write_bytes(b""), "{file} has 0 bytes, and digits/description.json says {size}: it is damaged"),
        (
            lambda file: file.write_bytes(file.read_bytes()[:-7]),
            "{file} has {cut} bytes, and digits/description.json says {size}: it is damaged",
        ),
        (flip, "{whole}: corrupted record at {offset15} (record 15): checksum of its data does not match"),
        (
            lambda file: (file.parent / "description.json").write_text("{}"),
            "digits/description.json is not a description of records: 'format'",
        ),
        (
            lambda file: without_description(file, lambda file: file.write_bytes(b"")),
            "{whole}: there are no records in it",
        ),
        (
            lambda file: without_description(file, lambda file: file.write_bytes(file.read_bytes()[:-7])),
            "{whole}: truncated record at ",
        ),
        (
            lambda file: without_description(file, lambda file: rewrite(file, shorter)),
            "{whole}: record 17 at offset {offset17}: its 'features' has 63 values, and the data has 64",
        ),
        (
            lambda file: without_description(file, lambda file: rewrite(file, unlabelled)),
            "{whole}: record 17 at offset {offset17}: it has no 'label', only features",
        ),
        (
            lambda file: without_description(file, lambda file: rewrite(file, of_text)),
            "{whole}: record 17 at offset {offset17}: its 'label' is a bytes_list, and must be a int64_list",
        ),
        (
            lambda file: without_description(file, lambda file: rewrite(file, eleventh)),
            "{whole}: record 17 at offset {offset17}: its label 10 is not one of the classes 0 to 9",
        ),
    ],
)
def test_damage_is_named_by_file_record_and_offset(
    damage: Callable[[Path], object], message: str, cli: Callable, digits: Path
) -> None:
    file = digits / SECOND
    size = file.stat().st_size
    places = [0]
    for record in tf.python_io.tf_record_iterator(str(file)):
        places.append(places[-1] + len(record) + 16)
    damage(file)
    ended = cli(*SOFTMAX, "input=tfrecord", "input.files=[digits]", "input.shuffle=100", "hydra.run.dir=run")
    assert ended.code == 1
    expected = message.format(
        file=f"digits/{SECOND}", whole=file, size=size, cut=size - 7, offset15=places[15], offset17=places[17]
    )
    first, *rest = ended.err.splitlines()
    assert first.startswith(f"tfexp: {expected}"), ended.err
    if rest:  # the run had begun
        assert re.fullmatch(r"saved in run/checkpoints/model\.ckpt-\d+", rest[0])
        assert rest[1:] == ["go on with: python -m tfexp resume=run"]


def test_a_run_goes_on_when_the_file_is_repaired(cli: Callable, digits: Path, tmp_path: Path) -> None:
    shutil.copytree(digits, tmp_path / "kept")
    words = [*SOFTMAX, "input=tfrecord", "input.files=[digits]", "input.shuffle=100", "train.checkpoint_every=1"]
    assert cli(*words, "hydra.run.dir=whole").code == 0
    flip(digits / SECOND)
    ended = cli(*words, "hydra.run.dir=run")
    assert ended.code == 1
    shutil.copy(tmp_path / "kept" / SECOND, digits / SECOND)
    assert cli("resume=run").code == 0
    assert numbers(tmp_path / "run") == numbers(tmp_path / "whole")


def test_a_task_names_the_damage_too(cli: Callable, digits: Path) -> None:
    flip(digits / SECOND)
    ended = cli(*SOFTMAX, "input=tfrecord", "input.files=[digits]", "cluster=2workers", "cluster.hosting=process")
    assert ended.code == 1
    assert re.match(
        rf"tfexp: (worker:1: )?{re.escape(str(digits / SECOND))}: corrupted record at \d+ \(record 15\)", ended.err
    )


def test_names_of_classes_go_with_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pets.csv").write_text("size,kind\n" + "1,cat\n2,dog\n" * 7)
    words = ["data=csv", "data.path=pets.csv", "data.label=kind", "data.class_names=[cat,dog]"]
    assert records.main([*words, "out=rows", "shards=2"]) == 0
    assert Recorded(files=("rows",), evaluated=5, ignore_errors=False).dataset().spec.class_names == ("cat", "dog")
