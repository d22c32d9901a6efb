"""`tf.keras`: re-exports. Every file of this folder is a namespace, loaded when first asked for."""

from pkgutil import iter_modules

from tfexp.core.gone import namespace
from tfexp.keras.engine.input_layer import Input as Input
from tfexp.keras.engine.model import Model as Model
from tfexp.keras.engine.sequential import Sequential as Sequential

__version__ = "2.2.4-tf"

__getattr__, __dir__ = namespace(
    "tf.keras", __name__, {found.name: f"{__name__}.{found.name}" for found in iter_modules(__path__)}
)
