"""Calibration methods, by a path of earlier versions of Quark."""

from .calibration import CalibrationMethod, ExtendedCalibrationMethod, Int16Method, LayerWiseMethod, PowerOfTwoMethod

__all__ = ["CalibrationMethod", "ExtendedCalibrationMethod", "Int16Method", "LayerWiseMethod", "PowerOfTwoMethod"]
