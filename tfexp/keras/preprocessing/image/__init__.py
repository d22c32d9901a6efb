"""Images as arrays: files, random transformations, and iterators over batches of them.

Random numbers are NumPy's global generator's, drawn in Keras's order: the same seed gives Keras's images.
"""
