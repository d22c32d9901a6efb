"""`tf.io.gfile`: `tf.gfile` under TensorFlow 2's names."""

from tfexp.core.gone import missing_from
from tfexp.formats.file_io import GFile as GFile
from tfexp.formats.named_files import copy as copy
from tfexp.formats.named_files import exists as exists
from tfexp.formats.named_files import glob as glob
from tfexp.formats.named_files import isdir as isdir
from tfexp.formats.named_files import listdir as listdir
from tfexp.formats.named_files import makedirs as makedirs
from tfexp.formats.named_files import mkdir as mkdir
from tfexp.formats.named_files import remove as remove
from tfexp.formats.named_files import rename as rename
from tfexp.formats.named_files import rmtree as rmtree
from tfexp.formats.named_files import stat as stat
from tfexp.formats.named_files import walk as walk

__getattr__ = missing_from("tf.io.gfile")
