import re

import numpy as np
import pytest

import tfexp as tf

LOADERS = [tf.load_op_library, tf.load_file_system_library, tf.load_library]


@pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
def test_what_is_no_library_is_refused_in_the_loaders_words(tmp_path, load):
    (tmp_path / "kernels.so").write_text("no")
    with pytest.raises(tf.errors.NotFoundError, match=re.escape(f"{tmp_path / 'kernels.so'}: ")):
        load(str(tmp_path / "kernels.so"))


@pytest.mark.parametrize("load", LOADERS[:2], ids=lambda load: load.__name__)
def test_an_absent_library_is_not_found(tmp_path, load):
    with pytest.raises(tf.errors.NotFoundError, match=r"absent\.so: .*[Nn]o such file"):
        load(str(tmp_path / "absent.so"))
    with pytest.raises(TypeError, match="name of a library is a string"):
        load(None)


def test_a_library_that_loads_has_no_ops_for_this_runtime():
    with pytest.raises(tf.errors.UnimplementedError, match=r"in C\+\+ cannot be loaded; write them in Python: tf\.py_func"):
        tf.load_op_library(np.random.mtrand.__file__)


def test_libraries_of_a_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        tf.load_library(str(tmp_path / "absent"))
    (tmp_path / "notes.txt").write_text("no")
    assert tf.load_library(str(tmp_path)) is None
    (tmp_path / "kernels.so").write_text("no")
    with pytest.raises(tf.errors.NotFoundError, match=r"kernels\.so"):
        tf.load_library(str(tmp_path))


def test_flags_of_1_15s_packages():
    assert tf.CXX11_ABI_FLAG == tf.__cxx11_abi_flag__ == tf.sysconfig.CXX11_ABI_FLAG == 0
    assert tf.MONOLITHIC_BUILD == tf.__monolithic_build__ == tf.sysconfig.MONOLITHIC_BUILD == 0
