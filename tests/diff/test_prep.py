"""Decoding, resizing and preparation beside Pillow, which runs here too.

Pictures are generated: noise, gradients, shapes, in every kind that JPEG and PNG
have. The preparation is computed once more with Pillow and NumPy by torchvision's
and the letterbox's rules. LONG=1: every size to every other, not one of three.
"""

import functools
import io
import itertools
import os
import pathlib
import sys
import tempfile

import numpy as np
from dump import Dump, Score
from PIL import Image, ImageOps

FILTERS = {"pil-nearest": Image.NEAREST, "pil-bilinear": Image.BILINEAR,
           "pil-bicubic": Image.BICUBIC, "pil-box": Image.BOX, "pil-lanczos": Image.LANCZOS}
SIZES = ((1, 1), (1, 7), (5, 1), (2, 2), (3, 8), (17, 13), (64, 64), (100, 37), (224, 224),
         (301, 200), (640, 480), (5, 900), (1300, 4))
PART = 1 if os.environ.get("LONG") else 3
rng = np.random.default_rng(5)


@functools.cache
def picture(width, height, channels=3):
    """Smooth colours, hard edges and noise."""
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        wave = 127 + 90 * np.sin(x / (3.0 + c) + y / 7.0) + 60 * ((x // 8 + y // 8) % 2)
        planes.append(wave + rng.normal(0, 12, (height, width)))
    data = np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8)
    data.setflags(write=False)
    return data if channels > 1 else data[:, :, :1]


def resized(array, size, filter_):
    bands = [Image.fromarray(array[:, :, c]).resize(size, filter_) for c in range(array.shape[2])]
    return np.stack([np.asarray(band) for band in bands], -1)


def compare(score, ours, theirs, what, most=0):
    if ours.shape != theirs.shape:
        score.check(False, f"{what}: shape {ours.shape}, wanted {theirs.shape}")
        return 0
    difference = np.abs(ours.astype(int) - theirs.astype(int))
    score.check(difference.max(initial=0) <= most,
                f"{what}: differs by {difference.max(initial=0)}")
    return np.count_nonzero(difference == 0) / max(difference.size, 1)


def check_resize(dump, score, folder):
    source, out = folder / "in.npy", folder / "out.npy"
    for name, filter_ in FILTERS.items():
        equal = []
        for (w, h), (to_w, to_h) in list(itertools.product(SIZES, SIZES))[len(name) % PART::PART]:
            array = picture(w, h, 1 + (w + to_h) % 4)
            np.save(source, array)
            done, text = dump.ask("resize", name, to_w, to_h, source, out)
            what = f"{name} {w}x{h} -> {to_w}x{to_h}"
            score.check(done, f"{what}: {text}")
            if done:
                theirs = resized(array, (to_w, to_h), filter_)
                equal.append(compare(score, np.load(out), theirs, what))
        print(f"{name}: {len(equal)} sizes, {np.mean(equal):.2%} of values equal")


def jpegs():
    yield "4:2:0", Image.fromarray(picture(333, 251)), {"quality": 90, "subsampling": 2}
    yield "4:2:2", Image.fromarray(picture(95, 64)), {"quality": 75, "subsampling": 1}
    yield "4:4:4", Image.fromarray(picture(16, 16)), {"quality": 95, "subsampling": 0}
    yield "progressive", Image.fromarray(picture(200, 117)), {"progressive": True}
    yield "restarts", Image.fromarray(picture(200, 117)), {"restart_marker_rows": 1}
    yield "gray", Image.fromarray(picture(77, 33, 1)[:, :, 0]), {}
    yield "cmyk", Image.fromarray(picture(60, 41, 4), "CMYK"), {}
    yield "cmyk progressive", Image.fromarray(picture(60, 41, 4), "CMYK"), {"progressive": True}
    yield "tiny", Image.fromarray(picture(1, 1)), {}
    yield "optimized", Image.fromarray(picture(50, 70)), {"optimize": True, "quality": 30}
    yield "profile", Image.fromarray(picture(50, 70)), {"icc_profile": b"x" * 70000}


def pngs():
    rgb, gray = Image.fromarray(picture(61, 47)), Image.fromarray(picture(61, 47, 1)[:, :, 0])
    yield "rgb", rgb, {}
    yield "gray", gray, {}
    yield "bits 1", gray.convert("1"), {}
    yield "rgba", Image.fromarray(picture(33, 20, 4), "RGBA"), {}
    yield "la", Image.fromarray(picture(33, 20, 2), "LA"), {}
    for bits in (1, 2, 4, 8):
        yield f"palette {bits}", rgb.quantize(1 << bits), {"bits": bits}
    yield "palette with alpha", rgb.quantize(16), {"transparency": 3}
    yield "rgb with a clear colour", rgb, {"transparency": (0, 0, 0)}


def written(image, kind, **options):
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def check_decode(dump, score, folder):
    source, out = folder / "in.img", folder / "out.npy"
    for kind, cases in (("JPEG", jpegs()), ("PNG", pngs())):
        for name, image, options in cases:
            source.write_bytes(written(image, kind, **options))
            done, text = dump.ask("decode", source, out)
            score.check(done, f"{kind} {name}: {text}")
            if done:
                theirs = np.asarray(Image.open(source).convert("RGB"))
                # Builds of libjpeg-turbo may round the colour conversion differently by one.
                compare(score, np.load(out), theirs, f"{kind} {name}", kind == "JPEG")


def check_interlace(dump, score, folder):
    """Pillow reads interlaced files but writes none: Adam7 made by hand."""
    import struct
    import zlib
    passes = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
              (0, 1, 1, 2))
    source, out = folder / "in.png", folder / "out.npy"
    for width, height, depth in ((1, 1, 8), (5, 3, 8), (37, 29, 8), (20, 20, 16)):
        array = picture(width, height)
        raw = b""
        for x0, y0, dx, dy in passes:
            part = array[y0::dy, x0::dx]
            if part.size:
                wide = np.repeat(part, 2, axis=2) if depth == 16 else part
                raw += b"".join(b"\0" + row.tobytes() for row in wide)

        def chunk(kind, body):
            return struct.pack(">I", len(body)) + kind + body + struct.pack(
                ">I", zlib.crc32(kind + body))

        source.write_bytes(
            b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, 1))
            + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
        done, text = dump.ask("decode", source, out)
        score.check(done, f"interlaced: {text}")
        if done:
            compare(score, np.load(out), array, f"interlaced {width}x{height}x{depth}")


def check_orientation(dump, score, folder):
    source, out = folder / "in.jpg", folder / "out.npy"
    for kind, orientation in itertools.product(("JPEG", "PNG"), range(0, 10)):
        image = Image.fromarray(picture(83, 130))
        exif = Image.Exif()
        exif[0x0112] = orientation
        source.write_bytes(written(image, kind, exif=exif))
        done, text = dump.ask("decode", source, out)
        score.check(done, f"{kind} orientation {orientation}: {text}")
        if done:
            theirs = np.asarray(ImageOps.exif_transpose(Image.open(source)).convert("RGB"))
            compare(score, np.load(out), theirs, f"{kind} orientation {orientation}",
                    kind == "JPEG")


def check_damage(dump, score, folder):
    """Nothing that is cut off is taken, and no changed byte of a PNG."""
    source, out = folder / "in.img", folder / "out.npy"
    image = Image.fromarray(picture(120, 90))
    for kind, options in (("JPEG", {}), ("JPEG", {"progressive": True}), ("PNG", {})):
        good = written(image, kind, **options)
        for size in range(0, len(good), max(1, len(good) // 60)):
            source.write_bytes(good[:size])
            done, text = dump.ask("decode", source, out)
            score.check(not done, f"{kind} cut at {size} of {len(good)}")
    for i in range(0, len(good), 97):
        bad = bytearray(good)
        bad[i] ^= 0x10
        source.write_bytes(bad)
        done, text = dump.ask("decode", source, out)
        score.check(not done, f"PNG with byte {i} changed")


def torchvision_classifier(image):
    """Resize(256), CenterCrop(224), ToTensor, Normalize."""
    width, height = image.size
    short, long = min(width, height), max(width, height)
    new_long = int(256 * long / short)
    size = (256, new_long) if width <= height else (new_long, 256)
    image = image.resize(size, Image.BILINEAR)
    left, top = int(round((size[0] - 224) / 2.0)), int(round((size[1] - 224) / 2.0))
    data = np.asarray(image)[top:top + 224, left:left + 224]
    x = data.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
    mean = np.array([0.485, 0.456, 0.406], np.float32)[:, None, None]
    std = np.array([0.229, 0.224, 0.225], np.float32)[:, None, None]
    return ((x - mean) / std)[None]


def letterboxed(image, side, stride):
    """Ratio, rounding and padding as YOLO's letterbox has them, with Pillow's filter."""
    width, height = image.size
    ratio = min(side / width, side / height)
    new = round(width * ratio), round(height * ratio)
    pad = [side - new[0], side - new[1]]
    if stride:
        pad = [p % stride for p in pad]
    left, top = round(pad[0] / 2 - 0.1), round(pad[1] / 2 - 0.1)
    out = np.full((new[1] + pad[1], new[0] + pad[0], 3), 114, np.uint8)
    out[top:top + new[1], left:left + new[0]] = np.asarray(image.resize(new, Image.BILINEAR))
    return (out.transpose(2, 0, 1).astype(np.float32) / np.float32(255))[None]


def exact(score, ours, theirs, what):
    same = ours.dtype == theirs.dtype and ours.shape == theirs.shape
    score.check(same and np.array_equal(ours, theirs), what)


def check_preparation(dump, score, folder):
    source, out = folder / "in.png", folder / "out.npy"
    for width, height in ((640, 480), (333, 500), (224, 224), (256, 256), (100, 301), (1001, 667)):
        image = Image.fromarray(picture(width, height))
        image.save(source, compress_level=1)

        def ours(*words):
            done, text = dump.ask("prep", *words, source, out)
            score.check(done, f"{words}: {text}")
            return np.load(out) if done else np.zeros(0)

        what = f"{width}x{height}"
        theirs = torchvision_classifier(image)
        plain = ours("imagenet", "float32", "-", "-", "-", "-", "1,3,224,224", 0, 0)
        exact(score, plain, theirs, f"imagenet {what}")
        nhwc = ours("imagenet", "float32", "-", "-", "-", "-", "-1,224,224,3", 0, 0)
        exact(score, nhwc, theirs.transpose(0, 2, 3, 1), f"imagenet, channels last {what}")
        half = ours("imagenet", "float16", "-", "-", "-", "-", "1,3,224,224", 0, 0)
        exact(score, half, theirs.astype(np.float16), f"imagenet, float16 {what}")
        double = ours("imagenet", "float64", "-", "-", "-", "-", "1,3,224,224", 0, 0)
        exact(score, double, theirs.astype(np.float64), f"imagenet, float64 {what}")
        for side, stride in ((320, 0), (640, 0), (320, 32)):
            dims = "1,3,-1,-1" if stride else f"1,3,{side},{side}"
            boxed = ours("yolo", "float32", "-", "-", "pil-bilinear", "-", dims, side, stride)
            exact(score, boxed, letterboxed(image, side, stride), f"letterbox {side} {what}")
        small = image.resize((96, 64), Image.LANCZOS)
        pixels = ours("plain", "uint8", "-", "-", "pil-lanczos", "bgr", "64,96,3", 0, 0)
        exact(score, pixels, np.asarray(small)[:, :, ::-1], f"uint8, BGR {what}")
        gray = np.asarray(image.convert("L").resize((28, 28), Image.BILINEAR))
        digit = ours("plain", "uint8", "-", "-", "-", "gray", "1,1,28,28", 0, 0)
        exact(score, digit, gray[None, None], f"gray {what}")
        signed = ours("signed", "float32", "-", "-", "-", "-", "1,224,224,3", 0, 0)
        fitted = np.asarray(image.resize((224, 224), Image.BILINEAR)).astype(np.float32)
        theirs = (fitted / np.float32(255) - np.float32(0.5)) / np.float32(0.5)
        exact(score, signed, theirs[None], f"signed {what}")
        kept = ours("plain", "uint8", "-", "none", "-", "-", "1,3,-1,-1", 0, 0)
        exact(score, kept, np.asarray(image).transpose(2, 0, 1)[None], f"none {what}")


def main():
    dump, score = Dump(), Score()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for check in (check_resize, check_decode, check_interlace, check_orientation,
                      check_damage, check_preparation):
            check(dump, score, folder)
    score.check(dump.close() == 0, "the tool ends well")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
