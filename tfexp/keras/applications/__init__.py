"""`tf.keras.applications`: well-known networks for images, each a table of its layers, with weights learned on ImageNet.

`building` puts a network between its input and its classes and loads the weights; each other file is one family.
"""
