"""`tf.train.Example`, `tf.train.SequenceExample` and their parts."""

from __future__ import annotations

from tfexp.formats.protos import schema

_types = schema.define(
    "example",
    """
    message BytesList
      value 1 repeated bytes
    message FloatList
      value 1 repeated float
    message Int64List
      value 1 repeated int64
    message Feature
      bytes_list 1 BytesList oneof kind
      float_list 2 FloatList oneof kind
      int64_list 3 Int64List oneof kind
    message Features
      feature 1 map string Feature
    message FeatureList
      feature 1 repeated Feature
    message FeatureLists
      feature_list 1 map string FeatureList
    message Example
      features 1 Features
    message SequenceExample
      context 1 Features
      feature_lists 2 FeatureLists
    """,
)
BytesList = _types["BytesList"]
FloatList = _types["FloatList"]
Int64List = _types["Int64List"]
Feature = _types["Feature"]
Features = _types["Features"]
FeatureList = _types["FeatureList"]
FeatureLists = _types["FeatureLists"]
Example = _types["Example"]
SequenceExample = _types["SequenceExample"]
