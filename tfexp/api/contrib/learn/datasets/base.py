"""`tf.contrib.learn.datasets.base`: tables in text files."""

from tfexp.contributed.learn.csv_files import Dataset as Dataset
from tfexp.contributed.learn.csv_files import Datasets as Datasets
from tfexp.contributed.learn.csv_files import load_csv_with_header as load_csv_with_header
from tfexp.contributed.learn.csv_files import load_csv_without_header as load_csv_without_header
from tfexp.core.gone import missing_from
from tfexp.stand_ins.mnist import maybe_download as maybe_download

__getattr__ = missing_from("tf.contrib.learn.datasets.base")
