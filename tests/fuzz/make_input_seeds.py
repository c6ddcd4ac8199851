"""Writes the seeds of the fuzz targets npy, npz and image into tests/fuzz/corpus.

Small files of every kind that the readers know. Needs numpy and Pillow; the seeds
are in the repository, so this is only needed when a reader learns something new.
"""

import io
import pathlib
import zipfile

import numpy as np
from PIL import Image

CORPUS = pathlib.Path(__file__).parent / "corpus"
KINDS = ("?", "i1", ">i2", "<i4", ">i8", "u1", "<u2", ">u4", "<u8", "<f2", ">f4", "<f8", ">c8",
         "<c16")


def write(target, name, data):
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def npys():
    for i, kind in enumerate(KINDS):
        array = np.arange(6).reshape(2, 3).astype(kind)
        order = np.asfortranarray(array) if i % 2 else array
        write("npy", f"type-{i:02}", npy(order, (1 + i % 3, 0)))
    write("npy", "scalar", npy(np.float32(3)))
    write("npy", "empty", npy(np.zeros((3, 0, 2), np.float32)))
    write("npy", "deep", npy(np.zeros((1,) * 16, np.int8)))
    write("npy", "objects", npy(np.array([None, "a"], object)))
    write("npy", "record", npy(np.zeros(2, [("a", "<f4"), ("b", "<i8")])))
    write("npy", "text", npy(np.array(["ab", "c"])))
    write("npy", "date", npy(np.array(["2026-01-01"], "datetime64[ns]")))
    head = "{\"shape\": (2,), 'descr': '<f4', 'fortran_order': False}"
    write("npy", "spaced", b"\x93NUMPY\x02\x00" + len(head).to_bytes(4, "little")
          + head.encode() + bytes(8))


def archive(method, seekable=True, comment=b""):
    stream = io.BytesIO()
    if not seekable:
        stream.seekable = lambda: False
    with zipfile.ZipFile(stream, "w", method) as out:
        out.comment = comment
        out.writestr("x.npy", npy(np.arange(6, dtype=np.float32).reshape(2, 3)))
        out.writestr("dir/y.npy", npy(np.zeros(100, np.int64)))
        out.writestr("notes.txt", "text")
    return stream.getvalue()


def npzs():
    for name, writer in (("savez", np.savez), ("savez-compressed", np.savez_compressed)):
        stream = io.BytesIO()
        writer(stream, a=np.ones(3, np.float32), b=np.zeros((50, 4), np.int8))
        write("npz", name, stream.getvalue())
    write("npz", "stored", archive(zipfile.ZIP_STORED))
    write("npz", "deflated", archive(zipfile.ZIP_DEFLATED, comment=b"comment"))
    write("npz", "descriptors", archive(zipfile.ZIP_DEFLATED, seekable=False))
    write("npz", "lzma", archive(zipfile.ZIP_LZMA))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    write("npz", "empty", empty.getvalue())
    zip64 = io.BytesIO()
    with zipfile.ZipFile(zip64, "w") as out, out.open("x.npy", "w", force_zip64=True) as member:
        member.write(npy(np.arange(3)))
    data = bytearray(zip64.getvalue())
    end, start = data.rindex(b"PK\5\6"), data.rindex(b"PK\1\2")
    record = (b"PK\6\6" + (44).to_bytes(8, "little") + bytes([45, 0, 45, 0]) + bytes(8)
              + (1).to_bytes(8, "little") * 2 + (end - start).to_bytes(8, "little")
              + start.to_bytes(8, "little"))
    locator = b"PK\6\7" + bytes(4) + end.to_bytes(8, "little") + (1).to_bytes(4, "little")
    tail = b"PK\5\6" + bytes(4) + b"\xff" * 12 + bytes(2)
    write("npz", "zip64", bytes(data[:end]) + record + locator + tail)


def picture(width, height, channels):
    y, x, c = np.mgrid[0:height, 0:width, 0:channels]
    return ((x * 37 + y * 11 + c * 90) % 256).astype(np.uint8)


def image(name, source, kind, **options):
    out = io.BytesIO()
    source.save(out, kind, **options)
    write("image", name, out.getvalue())


def images():
    rgb = Image.fromarray(picture(20, 17, 3))
    gray = Image.fromarray(picture(9, 8, 1)[:, :, 0])
    cmyk = Image.fromarray(picture(9, 8, 4), "CMYK")
    exif = Image.Exif()
    exif[0x0112] = 6
    image("rgb.jpg", rgb, "JPEG", subsampling=2)
    image("progressive.jpg", rgb, "JPEG", progressive=True)
    image("restarts.jpg", rgb, "JPEG", restart_marker_rows=1, subsampling=0)
    image("gray.jpg", gray, "JPEG")
    image("cmyk.jpg", cmyk, "JPEG")
    image("turned.jpg", rgb, "JPEG", exif=exif)
    image("rgb.png", rgb, "PNG")
    image("gray.png", gray, "PNG", exif=exif)
    image("gray-1.png", gray.convert("1"), "PNG")
    image("rgba.png", Image.fromarray(picture(5, 4, 4), "RGBA"), "PNG")
    image("gray-alpha.png", Image.fromarray(picture(5, 4, 2), "LA"), "PNG")
    image("palette-4.png", rgb.quantize(16), "PNG", bits=4, transparency=2)
    image("palette-8.png", rgb.quantize(64), "PNG", icc_profile=b"profile")
    image("gray-16.png", Image.fromarray(picture(5, 4, 1)[:, :, 0].astype(np.uint16) * 257), "PNG")
    image("animated.png", gray, "PNG", save_all=True, append_images=[gray.rotate(90)])


if __name__ == "__main__":
    npys()
    npzs()
    images()
