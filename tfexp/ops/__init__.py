"""Every op, one block each, one file per family. Importing this package registers them all."""
