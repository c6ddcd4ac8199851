"""Types and formats of the flat configuration, by Quark's names."""

from enum import Enum


class ExtendedQuantType(Enum):
    QInt8 = 1
    QUInt8 = 2
    QInt16 = 3
    QUInt16 = 4
    QInt4 = 5
    QUInt4 = 6
    QInt32 = 7
    QUInt32 = 8
    QFloat16 = 9
    QBFloat16 = 10
    QBFP = 11
    QMX = 12
    QFLOAT8E4M3FN = 13
    QFLOAT8E5M2 = 14


class QuantType(Enum):
    QInt8 = 0
    QUInt8 = 1
    QInt16 = 2
    QUInt16 = 3
    QInt4 = 4
    QUInt4 = 5
    QFLOAT8E4M3FN = 6
    QFLOAT8E5M2 = 7


class QuantFormat(Enum):
    QOperator = 0
    QDQ = 1


class ExtendedQuantFormat(Enum):
    QOperator = 0
    QDQ = 1


VitisQuantType, VitisQuantFormat = ExtendedQuantType, ExtendedQuantFormat
