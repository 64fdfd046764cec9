"""charts are matplotlib's only door: the step, the load, the history, before and after, the calibration."""

from bot.charts.calibration import Predicted, calibration_svg
from bot.charts.canvas import ALT
from bot.charts.pictures import Picture, beside_picture, kept, load_picture, pictures, ready
from bot.charts.waterfall import waterfall_alt, waterfall_png

__all__ = [
    "ALT",
    "Picture",
    "Predicted",
    "beside_picture",
    "calibration_svg",
    "kept",
    "load_picture",
    "pictures",
    "ready",
    "waterfall_alt",
    "waterfall_png",
]
