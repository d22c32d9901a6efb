"""`tf.contrib.text`: re-exports."""

from tfexp.contributed.skip_grams import skip_gram_sample as skip_gram_sample
from tfexp.contributed.skip_grams import skip_gram_sample_with_text_vocab as skip_gram_sample_with_text_vocab
from tfexp.core.gone import missing_from

__getattr__ = missing_from("tf.contrib.text")
