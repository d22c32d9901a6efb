"""TensorFlow's manifest.proto: how the graph of a session bundle is served."""

from __future__ import annotations

from tfexp.formats.protos.schema import define

_MESSAGES = define(
    "session_bundle",
    """
    message TensorBinding
      tensor_name 1 string
    message AssetFile
      tensor_binding 1 TensorBinding
      filename 2 string
    message RegressionSignature
      input 1 TensorBinding
      output 2 TensorBinding
    message ClassificationSignature
      input 1 TensorBinding
      classes 2 TensorBinding
      scores 3 TensorBinding
    message GenericSignature
      map 1 map string TensorBinding
    message Signature
      regression_signature 1 RegressionSignature oneof type
      classification_signature 2 ClassificationSignature oneof type
      generic_signature 3 GenericSignature oneof type
    message Signatures
      default_signature 1 Signature
      named_signatures 2 map string Signature
    """,
)

AssetFile = _MESSAGES["AssetFile"]
ClassificationSignature = _MESSAGES["ClassificationSignature"]
GenericSignature = _MESSAGES["GenericSignature"]
RegressionSignature = _MESSAGES["RegressionSignature"]
Signature = _MESSAGES["Signature"]
Signatures = _MESSAGES["Signatures"]
TensorBinding = _MESSAGES["TensorBinding"]
