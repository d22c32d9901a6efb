"""`tf.gfile`: files and folders, under TensorFlow's names."""

from tfexp.formats.file_io import GFile as FastGFile
from tfexp.formats.file_io import GFile as GFile
from tfexp.formats.file_io import GFile as Open
from tfexp.formats.file_io import copy as Copy
from tfexp.formats.file_io import delete_recursively as DeleteRecursively
from tfexp.formats.file_io import exists as Exists
from tfexp.formats.file_io import glob_files as Glob
from tfexp.formats.file_io import is_directory as IsDirectory
from tfexp.formats.file_io import list_directory as ListDirectory
from tfexp.formats.file_io import make_directories as MakeDirs
from tfexp.formats.file_io import make_directory as MkDir
from tfexp.formats.file_io import remove as Remove
from tfexp.formats.file_io import rename as Rename
from tfexp.formats.file_io import stat as Stat
from tfexp.formats.file_io import walk as Walk
