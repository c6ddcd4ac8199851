"""Calibration methods, by the path that Quark has for them."""

from . import CalibrationMethod, ExtendedCalibrationMethod, Int16Method, LayerWiseMethod, PowerOfTwoMethod

__all__ = ["CalibrationMethod", "ExtendedCalibrationMethod", "Int16Method", "LayerWiseMethod", "PowerOfTwoMethod"]
