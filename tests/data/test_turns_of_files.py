"""Files in turn: blocks of their records come in the order in which single ones would."""

import pytest

import tfexp as tf
from tests.data.running import elements, resumed

Data = tf.data.Dataset
LENGTHS = [5, 0, 1, 900, 30, 2, 700]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files of so many lines, each of which names its file and its place."""
    folder = tmp_path_factory.mktemp("lines")
    paths = [folder / f"{number}.txt" for number in range(len(LENGTHS))]
    for number, (path, length) in enumerate(zip(paths, LENGTHS, strict=True)):
        path.write_text("".join(f"{number} {place}\n" for place in range(length)))
    return [str(path) for path in paths]


def in_turn(cycle, length):
    """What each file's name gives, as the documentation of `tf.data.Dataset.interleave` says."""
    waiting = iter([[f"{number} {place}".encode() for place in range(size)] for number, size in enumerate(LENGTHS)])
    open_files = [next(waiting, None) for _ in range(cycle)]
    given, slot = [], 0
    while any(lines is not None for lines in open_files):
        lines = open_files[slot] or []
        given += lines[:length]
        if open_files[slot] is not None and len(lines) >= length:
            open_files[slot] = lines[length:]
        else:
            open_files[slot] = next(waiting, None)
        slot = (slot + 1) % cycle
    return given


@pytest.mark.parametrize("cycle", [1, 2, 3, 9])
@pytest.mark.parametrize("length", [1, 3, 16])
def test_records_come_in_turn(files, cycle, length):
    turns = Data.from_tensor_slices(files).interleave(tf.data.TextLineDataset, cycle, length)
    wanted = in_turn(cycle, length)
    assert sorted(wanted) == sorted(f"{n} {i}".encode() for n, size in enumerate(LENGTHS) for i in range(size))
    assert elements(turns, limit=2000) == wanted
    assert [line for batch in elements(turns.batch(250)) for line in batch.tolist()] == wanted


def test_a_position_in_turns(files, tmp_path):
    def build():
        return Data.from_tensor_slices(files).interleave(lambda name: tf.data.TextLineDataset(name).skip(2), 3).batch(8)

    whole = [batch.tolist() for batch in elements(build())]
    for taken in (1, 20, 90):
        assert resumed(build, taken, tmp_path) == whole[taken:]


def test_a_damaged_file_is_told_when_its_turn_comes(tmp_path):
    names = [str(tmp_path / name) for name in "abc"]
    for name in names:
        with tf.python_io.TFRecordWriter(name) as writer:
            for place in range(40):
                writer.write(f"{name[-1]}{place}".encode())
    content = bytearray((tmp_path / "b").read_bytes())
    content[content.index(b"b7")] ^= 1
    (tmp_path / "b").write_bytes(content)
    iterator = tf.data.make_initializable_iterator(
        Data.from_tensor_slices(names).interleave(tf.data.TFRecordDataset, 3).batch(1)
    )
    record, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(24):
            try:
                found.append(session.run(record)[0].decode())
            except tf.errors.DataLossError:
                found.append("damaged")
    assert found == [f"{name}{place}" for place in range(7) for name in "abc"] + ["a7", "damaged", "c7"]
