"""convert_nchw_to_nhwc: samples have the layout of the float model, and are turned as its inputs are."""

from .own import truth


def asked(options):
    extra = options.get("extra_options") or {}
    return truth(options.get("convert_nchw_to_nhwc")) or truth(extra.get("ConvertNCHWToNHWC"))


def turn(array):
    """Pictures, [N,C,H,W], with their channels last."""
    import numpy

    array = numpy.asarray(array)
    return array.transpose(0, 2, 3, 1) if array.ndim == 4 and array.dtype.kind == "f" else array


class Turned:
    """A reader whose samples are turned."""

    def __init__(self, reader):
        self.reader = reader
        if callable(getattr(reader, "rewind", None)):
            self.rewind = reader.rewind

    def __len__(self):
        return len(self.reader)

    def get_next(self):
        sample = self.reader.get_next()
        return sample if sample is None else {name: turn(array) for name, array in sample.items()}


def reader_of(model, data):
    """The reader of turned samples; a path is a folder of .npy files as PathDataReader reads it."""
    from ..._samples import is_path
    from ..calibration.data_readers import PathDataReader

    if is_path(data):
        data = PathDataReader(model, data)
    if not hasattr(data, "get_next"):
        raise TypeError(f"samples that are turned come from a reader with get_next(), not from a {type(data).__name__}")
    return Turned(data)


def turn_model(model):
    """The float model with the inputs that the quantized one has."""
    from ..tools._tool import rewrite

    return rewrite(model, None, {"onnx_convert_nchw_to_nhwc": {"convert_nchw_to_nhwc": True}})
