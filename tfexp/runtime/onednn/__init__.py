"""The optional back end oneDNN: convolutions and pooling by Intel's library, for float32 arrays with channels last."""
