"""`tf.contrib.learn.utils.gc`: which of several exports stay."""

from tfexp.contributed.export_versions import Path as Path
from tfexp.contributed.export_versions import get_paths as get_paths
from tfexp.contributed.export_versions import largest_export_versions as largest_export_versions
from tfexp.contributed.export_versions import mod_export_version as mod_export_version
from tfexp.contributed.export_versions import negation as negation
from tfexp.contributed.export_versions import one_of_every_n_export_versions as one_of_every_n_export_versions
from tfexp.contributed.export_versions import union as union
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.utils.gc")
