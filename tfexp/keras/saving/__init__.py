"""Models and their weights in files: HDF5 as Keras writes it, checkpoints by structure, SavedModels."""
