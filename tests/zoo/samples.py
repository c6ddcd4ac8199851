"""Samples for the models of tests/zoo/fetch.sh, as .npz files by input names.

    samples.py ZOO      writes ZOO/data/MODEL/NNNN.npz

Pictures and texts are those that fetch.sh took out of packages, the file types are
judged on files of the models' own folder. The sound is made up: no package that is
small enough has a recording.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

IMAGENET = np.array([0.485, 0.456, 0.406], np.float32), np.array([0.229, 0.224, 0.225], np.float32)
PLAIN = np.float32(0.5), np.float32(0.5)


def tensor(picture, mean, std):
    """A picture as 1 x 3 x height x width."""
    pixels = np.asarray(picture.convert("RGB"), np.float32) / 255
    return ((pixels - mean) / std).transpose(2, 0, 1)[None].astype(np.float32)


def text_lines(zoo):
    """The lines of the printed page: where rows have dark pixels."""
    page = Image.open(zoo / "texts/page.png").convert("L")
    dark = (np.asarray(page) < 90).sum(axis=1) > 2
    edges = np.flatnonzero(np.diff(np.concatenate([[False], dark, [False]]).astype(int)))
    for top, bottom in edges.reshape(-1, 2):
        if bottom - top >= 6:
            yield page.crop((0, max(top - 3, 0), page.width, min(bottom + 3, page.height)))


def ppocrv4_det(zoo):
    for path in sorted((zoo / "texts").iterdir()):
        yield {"x": tensor(Image.open(path).convert("RGB").resize((384, 192)), *IMAGENET)}


def ppocrv4_rec(zoo):
    for line in text_lines(zoo):
        yield {"x": tensor(line.resize((round(48 * line.width / line.height), 48)), *PLAIN)}


def ppocr_cls(zoo):
    for number, line in enumerate(text_lines(zoo)):
        turned = line.rotate(180 * (number % 2))
        yield {"x": tensor(turned.crop((0, 0, 4 * line.height, line.height)).resize((192, 48)), *PLAIN)}


def centerface(zoo):
    """Ten pictures of 32 x 32 at a time: that is the size that its file asks for."""
    for path in sorted((zoo / "pictures").iterdir()):
        picture = Image.open(path).convert("RGB").resize((320, 32))
        rows = np.asarray(picture, np.float32).transpose(2, 0, 1)
        yield {"input.1": np.ascontiguousarray(rows.reshape(3, 32, 10, 32).transpose(2, 0, 1, 3))}


def magika(zoo):
    """The first and the last 1024 bytes of a file; 256 stands for none."""
    for path in sorted(path for folder in ("pictures", "models") for path in (zoo / folder).iterdir()):
        content = np.frombuffer(path.read_bytes(), np.uint8).astype(np.int32)
        yield {"bytes": np.concatenate([content[:1024], content[-1024:]])[None]}


def voice(names):
    def samples(_):
        random = np.random.default_rng(7)
        time = np.arange(576, dtype=np.float32) / 16000
        for pitch in (110, 180, 250, 0):
            tone = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 6))
            noise = random.standard_normal(576)
            feed = {
                "input": (0.1 * tone + 0.01 * noise)[None].astype(np.float32),
                "state": np.zeros((2, 1, 128), np.float32),
                "sr": np.array(16000, np.int64),
            }
            yield {name: feed[name] for name in names}

    return samples


SAMPLES = {
    "centerface": centerface,
    "magika": magika,
    "ppocr_cls": ppocr_cls,
    "ppocrv4_det": ppocrv4_det,
    "ppocrv4_rec": ppocrv4_rec,
    "silero_vad": voice(["input", "state", "sr"]),
    "silero_vad_half": voice(["input", "state"]),
    "silero_vad_ifless": voice(["input", "state", "sr"]),
}


def write(zoo):
    """Tests that run at the same time write the same samples: none may see half a file."""
    with tempfile.TemporaryDirectory(dir=zoo) as drafts:
        for name, samples in SAMPLES.items():
            folder = zoo / "data" / name
            folder.mkdir(parents=True, exist_ok=True)
            for number, sample in enumerate(samples(zoo)):
                draft = Path(drafts) / f"{number:04}.npz"
                np.savez(draft, **sample)
                draft.replace(folder / draft.name)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
