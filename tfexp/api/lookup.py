"""`tf.lookup`: tables from keys to values."""

from tfexp.api import lookup_experimental as experimental
from tfexp.core.gone import missing_from
from tfexp.ops.lookup import StaticHashTable as StaticHashTable
from tfexp.ops.lookup_initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from tfexp.ops.lookup_initializers import TextFileIndex as TextFileIndex
from tfexp.ops.lookup_initializers import TextFileInitializer as TextFileInitializer
from tfexp.ops.lookup_vocabulary import StaticVocabularyTable as StaticVocabularyTable

__getattr__ = missing_from("tf.lookup")
