"""Calibration methods of the flat configuration, by Quark's names."""

from enum import Enum


class PowerOfTwoMethod(Enum):
    NonOverflow = 0
    MinMSE = 1


class CalibrationMethod(Enum):
    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3


class ExtendedCalibrationMethod(Enum):
    MinMax = 0
    Entropy = 1
    Percentile = 2
    Distribution = 3
    MinMSE = 4


class LayerWiseMethod(Enum):
    LayerWisePercentile = 0


class Int16Method(Enum):
    MinMax = 0


class CalibrationDataReader:
    """To inherit from: get_next() gives a sample, a dict of arrays by the names of the inputs, and
    None behind the last one. rewind() begins again."""

    def get_next(self):
        raise NotImplementedError("get_next() must return the next sample")


def __getattr__(name):
    if name in ("CachedDataReader", "PathDataReader", "RandomDataReader"):
        from . import data_readers

        return getattr(data_readers, name)
    from ..._names import missing

    raise missing("baryon.onnx.calibration", name, [known for known in globals() if known[0].isupper()])
