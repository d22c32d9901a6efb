"""`tf.io.gfile`, by the names of its arguments."""

import pytest

import tfexp as tf

gfile = tf.io.gfile


def test_files_and_folders_by_keyword(tmp_path):
    one, other = str(tmp_path / "one" / "a"), str(tmp_path / "b")
    gfile.makedirs(path=str(tmp_path / "one"))
    gfile.mkdir(path=str(tmp_path / "two"))
    with gfile.GFile(one, "w") as file:
        file.write("text")
    gfile.copy(src=one, dst=other)
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(src=one, dst=other, overwrite=False)
    gfile.rename(src=other, dst=one, overwrite=True)
    assert gfile.glob(pattern=f"{tmp_path}/*/a") == [one] and gfile.exists(path=one)
    assert gfile.stat(path=one).length == 4
    assert gfile.isdir(path=str(tmp_path)) and sorted(gfile.listdir(path=str(tmp_path))) == ["one", "two"]
    assert [folder for folder, *_ in gfile.walk(top=str(tmp_path), topdown=False)][-1] == str(tmp_path)
    gfile.remove(path=one)
    gfile.rmtree(path=str(tmp_path / "one"))
    assert gfile.listdir(path=str(tmp_path)) == ["two"]


def test_what_goes_wrong_on_a_walk_is_told(tmp_path):
    told = []
    assert list(gfile.walk(top=str(tmp_path / "nowhere"), onerror=told.append)) == []
    assert isinstance(told[0], OSError)
