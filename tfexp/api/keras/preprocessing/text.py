"""`tf.keras.preprocessing.text`: words as numbers."""

from tfexp.core.gone import missing_from
from tfexp.keras.preprocessing.text import Tokenizer as Tokenizer
from tfexp.keras.preprocessing.text import hashing_trick as hashing_trick
from tfexp.keras.preprocessing.text import one_hot as one_hot
from tfexp.keras.preprocessing.text import text_to_word_sequence as text_to_word_sequence
from tfexp.keras.preprocessing.text import tokenizer_from_json as tokenizer_from_json

__getattr__ = missing_from("tf.keras.preprocessing.text")
