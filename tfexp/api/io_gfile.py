"""`tf.io.gfile`: `tf.gfile` under TensorFlow 2's names."""

from tfexp.core.gone import missing_from
from tfexp.formats.file_io import GFile as GFile
from tfexp.formats.file_io import copy as copy
from tfexp.formats.file_io import delete_recursively as rmtree
from tfexp.formats.file_io import exists as exists
from tfexp.formats.file_io import glob_files as glob
from tfexp.formats.file_io import is_directory as isdir
from tfexp.formats.file_io import list_directory as listdir
from tfexp.formats.file_io import make_directories as makedirs
from tfexp.formats.file_io import make_directory as mkdir
from tfexp.formats.file_io import remove as remove
from tfexp.formats.file_io import rename as rename
from tfexp.formats.file_io import stat as stat
from tfexp.formats.file_io import walk as walk

__getattr__ = missing_from("tf.io.gfile")
