"""`tf.keras.models`: re-exports."""

from tfexp.core.gone import missing_from
from tfexp.keras.engine.cloning import clone_model as clone_model
from tfexp.keras.engine.model import Model as Model
from tfexp.keras.engine.model_text import model_from_config as model_from_config
from tfexp.keras.engine.model_text import model_from_json as model_from_json
from tfexp.keras.engine.model_text import model_from_yaml as model_from_yaml
from tfexp.keras.engine.sequential import Sequential as Sequential
from tfexp.keras.saving.save import load_model as load_model
from tfexp.keras.saving.save import save_model as save_model

__getattr__ = missing_from("tf.keras.models")
