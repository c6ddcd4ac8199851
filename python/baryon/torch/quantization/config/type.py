"""Words of configurations, by Quark's names."""

import enum


class Dtype(enum.Enum):
    int8 = "int8"
    uint8 = "uint8"
    int4 = "int4"
    uint4 = "uint4"
    int3 = "int3"
    int2 = "int2"
    uint2 = "uint2"
    bfloat16 = "bfloat16"
    float16 = "float16"
    fp8_e5m2 = "fp8_e5m2"
    fp8_e4m3 = "fp8_e4m3"
    fp6_e3m2 = "fp6_e3m2"
    fp6_e2m3 = "fp6_e2m3"
    fp4 = "fp4"
    mx6 = "mx6"
    mx9 = "mx9"
    bfp16 = "bfp16"
    mxint8 = "mxint8"


class QSchemeType(enum.Enum):
    per_tensor = "per_tensor"
    per_channel = "per_channel"
    per_group = "per_group"
    per_block = "per_block"


class ScaleType(enum.Enum):
    float = "float"
    float32 = "float32"
    float16 = "float16"
    bfloat16 = "bfloat16"
    pof2 = "pof2"


class QuantFlow(enum.Enum):
    """All are one here: from folder to folder, a slab of a tensor at a time."""

    standard = "standard"
    file2file = "file2file"
    per_block = "per_block"
