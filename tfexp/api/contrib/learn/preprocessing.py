"""`tf.contrib.learn.preprocessing`: texts as rows of numbers."""

from tfexp.contributed.learn.vocabulary import CategoricalVocabulary as CategoricalVocabulary
from tfexp.contributed.learn.vocabulary import VocabularyProcessor as VocabularyProcessor
from tfexp.contributed.learn.vocabulary import tokenizer as tokenizer
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.learn.preprocessing")
