"""Types that tensors become, by Quark's names."""


class _Readable(type):
    def __repr__(cls):
        return cls.__name__


class DataType(metaclass=_Readable):
    """name: what the library calls it."""

    name = None


def _make(ours):
    for theirs, name in ours.items():
        yield theirs, _Readable(theirs, (DataType,), {"name": name, "__module__": __name__})


globals().update(_make({
    "Int4": "int4", "UInt4": "uint4", "Int8": "int8", "UInt8": "uint8", "Int16": "int16",
    "UInt16": "uint16", "Int32": "int32", "UInt32": "uint32", "Float16": "fp16", "BFloat16": "bf16",
    "BFP16": "bfp16", "MX4": "mx4", "MX6": "mx6", "MX9": "mx9", "MXFP4E2M1": "mxfp4_e2m1",
    "MXFP6E3M2": "mxfp6_e3m2", "MXFP6E2M3": "mxfp6_e2m3", "MXFP8E5M2": "mxfp8_e5m2",
    "MXFP8E4M3": "mxfp8_e4m3", "MXInt8": "mxint8",
}))  # fmt: skip
BaseDataType = DataType


def data_type_of(name):
    """The class of a name, "Int8"."""
    found = globals().get(name)
    if not (isinstance(found, type) and issubclass(found, DataType) and found.name):
        from ...._names import near

        names = [known for known, value in globals().items() if isinstance(value, type) and known[0].isupper()]
        raise ValueError(f"there is no data type {name!r}{near(name, names)}")
    return found
