"""Builds the calibration and evaluation inputs of the networks in activations.py."""

import math
import random

import numpy as np
from PIL import Image

from data import SOURCES, SPLITS, DataBuilder, add_noise, mel_filters, random_crop, text_split

CALIB, EVAL = 32, 48
COUNTS = {"calib": CALIB, "eval": EVAL}


class ActivationsData(DataBuilder):
    def seeded(self, seed):
        """Each split with its number of samples and a generator of its own."""
        for split in SPLITS:
            yield split, COUNTS[split], random.Random(seed + SPLITS.index(split))

    # ---- texts and pictures

    def sentences(self):
        """Synopses and beginnings of descriptions by turns, at most 96 tokens."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(
            str(self.ws.root / "packages/mpnet_base/all-mpnet-base-v2/tokenizer.json")
        )
        tokenizer.no_padding()
        tokenizer.enable_truncation(96)
        for split in SPLITS:
            pairs = [pair for pair in self.descriptions if text_split(pair[0]) == split]
            samples = []
            for number, pair in enumerate(pairs[: COUNTS[split]]):
                ids = np.array([tokenizer.encode(pair[number % 2]).ids], np.int64)
                samples.append({"input_ids": ids, "attention_mask": np.ones_like(ids)})
            self.save("mpnet_base", split, samples)

    def saliency(self):
        """Photographs and cut-outs, the longer side 224 pixels, the rest padded with black."""
        mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
        for split, count, rng in self.seeded(101):
            photos, stamps = SOURCES["photos"][split], SOURCES["stamps"][split]
            samples = []
            for number in range(count):
                if number % 3:
                    picture = self.picture(photos[number % len(photos)])
                    if number >= len(photos):
                        picture = random_crop(picture, rng, 320)
                else:
                    stamp = stamps[number % len(stamps)]
                    stamp = stamp if isinstance(stamp, str) else stamp[0]
                    picture = self.compose(stamp, rng, split, 320)
                scale = 224 / max(picture.size)
                picture = picture.resize((round(picture.width * scale), round(picture.height * scale)))
                square = Image.new("RGB", (224, 224))
                square.paste(picture, ((224 - picture.width) // 2, (224 - picture.height) // 2))
                pixels = (np.asarray(square, np.float32) / 255 - mean) / deviation
                samples.append({"input_image": pixels.transpose(2, 0, 1)[None]})
            self.save("vit_focus", split, samples)

    def words(self):
        """Short rendered texts: in colour, 32 x 128, and grey, 64 high."""
        for split, count, rng in self.seeded(111):
            phrases = self.phrases(split, 2 * count, 3, 11, 113)
            colour, grey = [], []
            for number in range(count):
                line = self.text_line(phrases[2 * number], rng, split).resize((128, 32))
                planes = np.asarray(line, np.float32).transpose(2, 0, 1)
                colour.append({"image": ((planes / 255 - 0.5) / 0.5)[None]})
                line = self.text_line(phrases[2 * number + 1], rng, split, 64).convert("L")
                grey.append({"input1": ((np.asarray(line, np.float32) / 255 - 0.5) / 0.5)[None, None]})
            self.save("svtrv2_rec", split, colour)
            self.save("ddddocr_rec", split, grey)

    # ---- sound

    def clips(self, split, count, seconds, rng, rate=16000, noisy=0.5):
        """Recordings in a row until they fill the time, a part of them with noise: clean and noisy."""
        noises = [self.sound(source, rate) for source in SOURCES["noise"][split]]
        recordings = SOURCES["speech"][split]
        for number in range(count):
            pieces, length = [], 0
            while length < seconds * rate:
                at = number if not pieces else rng.randrange(len(recordings))
                pieces.append(self.sound(recordings[at % len(recordings)], rate))
                length += len(pieces[-1])
            sound = np.concatenate(pieces)[: int(seconds * rate)]
            yield sound, add_noise(sound, noises, rng) if rng.random() < noisy else sound

    def whisper(self):
        """10 s as 80 mel bands: logarithms of power, cut 8 decades under the greatest."""
        filters = mel_filters(16000, 400, 80)
        for split, count, rng in self.seeded(121):
            samples = []
            for _, sound in self.clips(split, count, 10, rng):
                power = windows(np.pad(sound, 200, "reflect"), hann(400), 160)[:1000] ** 2
                mel = np.log10(np.maximum(power @ filters.T, 1e-10))
                mel = (np.maximum(mel, mel.max() - 8) + 4) / 4
                samples.append({"mel": mel.T[None].astype(np.float32)})
            self.save("whisper_tiny", split, samples)

    def pitch_frames(self):
        """2 s as logarithms of the magnitudes of 128 mel bands."""
        filters = mel_filters(16000, 1024, 128)
        for split, count, rng in self.seeded(131):
            samples = []
            for _, sound in self.clips(split, count, 2, rng):
                power = windows(np.pad(sound, 432, "reflect"), hann(1024), 160) ** 2
                mel = np.log(np.maximum(np.sqrt(power + 1e-9) @ filters.T, 1e-5))
                samples.append({"mel": mel[None].astype(np.float32)})
            self.save("fcpe", split, samples)

    def denoising(self):
        """2 s of noisy speech at 48 kHz: normalized power of 32 bands and the lowest 96 bins."""
        size, hop, tau = 960, 480, 0.99
        window = np.sin(np.pi / 2 * np.sin(np.pi * (np.arange(size) + 0.5) / size) ** 2)
        bands = erb_bands(48000, size, 32, 2)
        for split, count, rng in self.seeded(141):
            samples = []
            for _, sound in self.clips(split, count, 2, rng, 48000, 1):
                spectra = windows(np.pad(sound, (hop, 0)), window, hop, np.asarray) / size
                power = np.add.reduceat(np.abs(spectra) ** 2, bands[:-1], 1) / np.diff(bands)
                levels = 10 * np.log10(power + 1e-10)
                levels = (levels - running(levels, np.linspace(-60, -90, 32), tau)) / 40
                low = spectra[:, :96]
                low = low / np.sqrt(running(np.abs(low), np.linspace(1e-3, 1e-4, 96), tau))
                samples.append(
                    {
                        "enc/feat_erb": levels[None, None].astype(np.float32),
                        "enc/feat_spec": np.stack([low.real, low.imag])[None].astype(np.float32),
                    }
                )
            self.save("deepfilter", split, samples)

    def echo(self):
        """8 s of a call: the far end, the microphone with its echo, and the microphone after a
        canceller that leaves a part of it, each as 160 mel bands in dB."""
        filters = mel_filters(16000, 513, 160)

        def bands(sound):
            power = windows(np.pad(sound, 256), hann(513), 256) ** 2 @ filters.T
            level = 10 * np.log10(np.maximum(power, 1e-10))
            level = np.maximum(level - level.max(), -80)
            return (level + 40) / 40

        for split, count, rng in self.seeded(151):
            near, far = (list(self.clips(split, count, 8, rng)) for _ in range(2))
            samples = []
            for number in range(count):
                sound, remote = near[number][1], far[(number + 7) % count][0]
                delay, gain = rng.randrange(400, 4000), rng.uniform(0.1, 0.8)
                echo = gain * np.pad(remote, (delay, 0))[: len(remote)]
                scenario = rng.randrange(3)  # near end alone, far end alone, both
                near_end, far_end = sound * (scenario != 1), echo * (scenario != 0)
                left = rng.choice([0, 0.05, 0.3])
                marks = (scenario != 0, scenario != 1, True)
                rows = (remote * (scenario != 0) + 1e-4 * sound, near_end + far_end, near_end + left * far_end)
                tail = [np.repeat([[float(mark)], [0.0]], 20, 0) + np.zeros((40, 160)) for mark in marks]
                x = [np.concatenate([bands(row), end]) for row, end in zip(rows, tail, strict=True)]
                samples.append(
                    {
                        "input": np.stack(x)[None].astype(np.float32),
                        "h0": np.zeros((4, 1, 64), np.float32),
                    }
                )
            self.save("aecmos", split, samples)

    def lost_packets(self):
        """5 s with lost packets of 20 ms, as logarithms of power: lost frames have none at all."""
        window = np.hamming(513)[:-1]
        for split, count, rng in self.seeded(161):
            raters = np.random.default_rng(rng.randrange(1 << 30))
            samples = []
            for _, sound in self.clips(split, count, 5, rng):
                sound = sound.copy()
                share = rng.uniform(0, 0.2)
                for start in range(0, len(sound), 320):
                    if rng.random() < share:
                        sound[start : start + 320] = 0
                power = windows(np.pad(sound, (256, 512)), window, 256) ** 2
                some = power[power > 0]
                power = np.where(power > 0, np.log(np.maximum(power, 1e-300)), np.log(some.min()) - 27.6)
                samples.append(
                    {
                        "degraded_audio": (power / 20)[None, None].astype(np.float32),
                        "rater_embed": raters.standard_normal((1, 64)).astype(np.float32),
                    }
                )
            self.save("plcmos", split, samples)


# ---- helpers without state


def hann(size):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)


def windows(sound, window, hop, of=np.abs):
    """Spectra of the windows that lie within the sound."""
    starts = range(0, len(sound) - len(window) + 1, hop)
    return of(np.fft.rfft(np.stack([sound[i : i + len(window)] for i in starts]) * window))


def running(rows, state, tau):
    """The exponential mean of each column up to each row."""
    means = []
    for row in rows:
        state = row * (1 - tau) + state * tau
        means.append(state)
    return np.array(means)


def erb_bands(rate, size, bands, least):
    """First bins of bands that are equally wide to the ear, each of some bins at least, and the end."""
    scale = 24.7 * 9.265
    step = 9.265 * math.log1p(rate / 2 / scale) / bands
    edges, over, before = [0], 0, 0
    for band in range(1, bands + 1):
        bin_ = round(scale * math.expm1(band * step / 9.265) * size / rate)
        width = bin_ - before - over
        over = max(0, least - width)
        edges.append(edges[-1] + max(width, least))
        before = bin_
    edges[-1] = size // 2 + 1
    return np.array(edges)


ACTIVATIONS_STEPS = {
    "sentences": ("mpnet_base",),
    "saliency": ("vit_focus",),
    "words": ("svtrv2_rec", "ddddocr_rec"),
    "whisper": ("whisper_tiny",),
    "pitch_frames": ("fcpe",),
    "denoising": ("deepfilter",),
    "echo": ("aecmos",),
    "lost_packets": ("plcmos",),
}
