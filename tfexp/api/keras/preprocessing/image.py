"""`tf.keras.preprocessing.image`: images as arrays, changed at random."""

from tfexp.core.gone import missing_from
from tfexp.keras.preprocessing.image.arrays import array_to_img as array_to_img
from tfexp.keras.preprocessing.image.arrays import img_to_array as img_to_array
from tfexp.keras.preprocessing.image.arrays import load_img as load_img
from tfexp.keras.preprocessing.image.arrays import save_img as save_img
from tfexp.keras.preprocessing.image.files_iterator import DirectoryIterator as DirectoryIterator
from tfexp.keras.preprocessing.image.generator import ImageDataGenerator as ImageDataGenerator
from tfexp.keras.preprocessing.image.iterator import Iterator as Iterator
from tfexp.keras.preprocessing.image.numpy_iterator import NumpyArrayIterator as NumpyArrayIterator
from tfexp.keras.preprocessing.image.transforms import apply_affine_transform as apply_affine_transform
from tfexp.keras.preprocessing.image.transforms import apply_brightness_shift as apply_brightness_shift
from tfexp.keras.preprocessing.image.transforms import apply_channel_shift as apply_channel_shift
from tfexp.keras.preprocessing.image.transforms import random_brightness as random_brightness
from tfexp.keras.preprocessing.image.transforms import random_channel_shift as random_channel_shift
from tfexp.keras.preprocessing.image.transforms import random_rotation as random_rotation
from tfexp.keras.preprocessing.image.transforms import random_shear as random_shear
from tfexp.keras.preprocessing.image.transforms import random_shift as random_shift
from tfexp.keras.preprocessing.image.transforms import random_zoom as random_zoom

__getattr__ = missing_from("tf.keras.preprocessing.image")
