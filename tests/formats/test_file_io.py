"""Files by path: contents, folders, and an exception of `tf.errors` for each failure."""

import pytest

from tfexp.core import errors
from tfexp.formats import file_io
from tfexp.formats.file_io import GFile


def test_text_and_bytes(tmp_path):
    path = tmp_path / "a.txt"
    with GFile(path, "w") as file:
        file.write("one\nzwei ü\n")
    with GFile(str(path), "a") as file:
        file.write("three")
    with GFile(path) as file:
        assert (file.name, file.mode) == (str(path), "r")
        assert file.size() == len("one\nzwei ü\nthree".encode())
        assert file.readline() == "one\n"
        assert file.tell() == 4
        assert list(file) == ["zwei ü\n", "three"]
        file.seek(0)
        assert file.read(3) == "one"
        file.seek(position=1)
        assert file.read(2) == "ne"
        with pytest.raises(TypeError, match="offset argument required"):
            file.seek()
    with GFile(path, "rb") as file:
        assert file.readlines() == [b"one\n", "zwei ü\n".encode(), b"three"]


def test_what_a_mode_does_not_allow(tmp_path):
    path = tmp_path / "a"
    with GFile(path, "w") as file:
        file.write("x")
        with pytest.raises(errors.PermissionDeniedError, match="isn't open for reading"):
            file.read()
    with GFile(path) as file, pytest.raises(errors.PermissionDeniedError, match="isn't open for writing"):
        file.write("y")
    with pytest.raises(errors.InvalidArgumentError, match="mode is not"):
        GFile(path, "q")


def test_what_cannot_be_sought_is_refused(tmp_path):
    (tmp_path / "x").write_text("begin")
    with GFile(tmp_path / "x") as file:
        file.seek(offset=-2, whence=2)
        assert (file.read(), file.tell()) == ("in", 5)
        for position in ((-1,), (0, 5), (-6, 2)):
            with pytest.raises(errors.InvalidArgumentError):
                file.seek(*position)
        file.seek(-3, 1)
        assert file.read() == "gin"


def test_a_missing_file_is_noticed_when_it_is_read(tmp_path):
    file = GFile(tmp_path / "none")
    with pytest.raises(errors.NotFoundError, match="none; No such file or directory"):
        file.read()
    with pytest.raises(errors.NotFoundError):
        file.size()


def test_folders(tmp_path):
    inner = tmp_path / "a" / "b"
    with pytest.raises(errors.NotFoundError):
        file_io.make_directory(inner)
    file_io.make_directories(inner)
    file_io.make_directories(inner)
    file_io.make_directory(inner)
    (inner / "f1").write_text("1")
    (inner / "f0").write_text("0")
    assert sorted(file_io.list_directory(inner)) == ["f0", "f1"]
    assert file_io.glob_files(str(inner / "f*")) == file_io.glob_files([str(inner / "f0"), str(inner / "?1")])
    assert [(d, sorted(f)) for _, d, f in file_io.walk(tmp_path)] == [(["a"], []), (["b"], []), ([], ["f0", "f1"])]
    assert file_io.is_directory(inner)
    found = file_io.stat(inner / "f0")
    assert (found.length, found.is_directory) == (1, False)
    assert found.mtime_nsec > 0
    assert file_io.stat(inner).is_directory
    file_io.delete_recursively(tmp_path / "a")
    assert not file_io.exists(inner)
    with pytest.raises(errors.NotFoundError, match="Could not find directory"):
        file_io.list_directory(inner)


@pytest.mark.parametrize("act", [file_io.copy, file_io.rename])
def test_a_new_path_is_overwritten_only_when_asked(tmp_path, act):
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("old")
    new.write_text("new")
    with pytest.raises(errors.AlreadyExistsError):
        act(old, new)
    assert new.read_text() == "new"
    act(old, new, overwrite=True)
    assert new.read_text() == "old"
    assert old.exists() == (act is file_io.copy)
    file_io.remove(new)
    with pytest.raises(errors.NotFoundError):
        file_io.remove(new)


@pytest.mark.parametrize("mode", ["w", "w+", "wb"])
def test_files_are_of_bytes_in_every_mode(mode, tmp_path):
    path = tmp_path / "some"
    with GFile(str(path), mode) as file:
        file.write(b"\xd4\n")
        file.write("éa\r\nz")
    assert path.read_bytes() == b"\xd4\n\xc3\xa9a\r\nz"
    with GFile(str(path), "r") as file:
        file.seek(2)
        assert (file.read(2), file.tell(), file.readline(), file.read()) == ("é", 4, "a\n", "z")
        file.seek(0)
        with pytest.raises(UnicodeDecodeError):
            file.read()
