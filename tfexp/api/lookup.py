"""`tf.lookup`: re-exports."""

from types import SimpleNamespace as _SimpleNamespace

from tfexp.core.gone import missing_from
from tfexp.ops.lookup import DenseHashTable as _DenseHashTable
from tfexp.ops.lookup import StaticHashTable as StaticHashTable
from tfexp.ops.lookup_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tfexp.ops.lookup_initializers import TextFileIndex as TextFileIndex
from tfexp.ops.lookup_initializers import TextFileInitializer as TextFileInitializer
from tfexp.ops.lookup_vocabulary import StaticVocabularyTable as StaticVocabularyTable

experimental = _SimpleNamespace(DenseHashTable=_DenseHashTable)

__getattr__ = missing_from("tf.lookup")
