"""NumPy's files read and written: every type, byte order, array order and version.

What is read is written again and must be the very bytes that numpy.save writes;
archives come from savez, savez_compressed and zipfile itself.
"""

import io
import itertools
import pathlib
import sys
import tempfile
import zipfile

import numpy as np
from dump import Dump, Score

KINDS = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16")
SHAPES = ((), (1,), (0,), (7,), (3, 4), (2, 0, 5), (2, 3, 4), (1, 2, 3, 4, 5), (1,) * 16, (64,),
          (1000000,), (123456, 2))
rng = np.random.default_rng(3)


def values(kind, shape):
    dtype = np.dtype(kind)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    data = rng.standard_normal(shape) * 100
    if dtype.kind == "c":
        data = data + 1j * rng.standard_normal(shape)
    return np.asarray(data).astype(dtype)


def as_npy(array, version=None):
    out = io.BytesIO()
    if version:
        np.lib.format.write_array(out, array, version=version)
    else:
        np.save(out, array)
    return out.getvalue()


def native(array):
    """What numpy.save writes for the same values in C order and native byte order."""
    return as_npy(np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(array.shape))


def variants(array):
    """The array in all its orders."""
    for order, endian in itertools.product("CF", "<>"):
        copy = np.array(array, dtype=array.dtype.newbyteorder(endian), order=order)
        yield f"{order}{endian}", copy


def check_arrays(dump, score, folder):
    source, out = folder / "in.npy", folder / "out.npy"
    for kind, shape in itertools.product(KINDS, SHAPES):
        if np.prod(shape) > 5000 and kind not in ("f4", "c8"):
            continue
        array = values(kind, shape)
        for name, copy in variants(array):
            for version in ((1, 0), (2, 0), (3, 0)):
                source.write_bytes(as_npy(copy, version))
                done, text = dump.ask("npy", source, out)
                what = f"{kind} {shape} {name} {version}: {text}"
                score.check(done and out.read_bytes() == native(array), what)


def check_archives(dump, score, folder):
    source, out = folder / "in.npz", folder / "out.npy"
    arrays = {"images": values("f4", (5, 3, 8, 8)), "a/b:0": values("i8", (4, 2)),
              "mask": values("?", (33,)), "zeros": np.zeros((300, 1000), np.float32),
              "gr\u00fcn": values("f2", (3,))}
    writers = {"savez": np.savez, "savez_compressed": np.savez_compressed}
    for name, writer in writers.items():
        writer(source, **arrays)
        for key, array in arrays.items():
            done, text = dump.ask("npz", source, key, out)
            score.check(done and out.read_bytes() == native(array), f"{name} {key}: {text}")
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        stream.seekable = lambda: False  # sizes then follow in data descriptors
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.comment = b"any comment"
            for key, array in arrays.items():
                archive.writestr(key + ".npy", as_npy(array))
            archive.writestr("notes.txt", "no array")
        source.write_bytes(stream.getvalue())
        for key, array in arrays.items():
            done, text = dump.ask("npz", source, key, out)
            score.check(done and out.read_bytes() == native(array), f"{method} {key}: {text}")


def check_damage(dump, score, folder):
    """A changed byte is refused or makes no difference; a cut file is refused."""
    array = values("f4", (40, 30))
    good = io.BytesIO()
    np.savez_compressed(good, x=array)
    good, source, out = good.getvalue(), folder / "in.npz", folder / "out.npy"
    for i in range(0, len(good), 7):
        bad = bytearray(good)
        bad[i] ^= 1 << (i % 8)
        source.write_bytes(bad)
        done, text = dump.ask("npz", source, "x", out)
        score.check(not done or out.read_bytes() == native(array), f"byte {i}: {text}")
    for size in range(0, len(good), 101):
        source.write_bytes(good[:size])
        done, text = dump.ask("npz", source, "x", out)
        score.check(not done, f"cut at {size}")


def main():
    dump, score = Dump(), Score()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_arrays, check_archives, check_damage):
            check(dump, score, folder)
    score.check(dump.close() == 0, "the tool ends well")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
