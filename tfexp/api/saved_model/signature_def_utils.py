"""`tf.saved_model.signature_def_utils`: making signatures."""

from tfexp.train.signatures import build_signature_def as build_signature_def
from tfexp.train.signatures import classification_signature_def as classification_signature_def
from tfexp.train.signatures import is_valid_signature as is_valid_signature
from tfexp.train.signatures import predict_signature_def as predict_signature_def
from tfexp.train.signatures import regression_signature_def as regression_signature_def
