"""Readers of samples that are there already, by Quark's names."""

import os

from . import CalibrationDataReader


class CachedDataReader(CalibrationDataReader):
    """The samples of another reader, kept in memory: data_size of them, or all."""

    def __init__(self, dr, data_size=None):
        self.samples = []
        while (data_size is None or len(self.samples) < data_size) and (sample := dr.get_next()) is not None:
            self.samples.append(sample)
        if not self.samples:
            raise ValueError("the reader of samples gives none")
        self.rewind()

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, place):
        return self.samples[place]

    def get_next(self):
        return next(self.iterator, None)

    def rewind(self):
        self.iterator = iter(self.samples)

    reset_iter = rewind


def _ports(model):
    from ...running import Session

    with Session(model) as session:
        return session.inputs


def _size(rank, axis):
    """What random data have where a model leaves a size open."""
    if axis == 1:
        return {2: 16, 4: 3}.get(rank, 1)
    return 32 if rank == 4 and axis > 1 else 1


class RandomDataReader(CachedDataReader):
    """One sample of random values. input_shape: {input: sizes}; input_data_range: {input: [low, high]},
    both ends included for whole numbers. Floats are from 0 to 1 otherwise, whole numbers 0."""

    def __init__(self, model_input, input_shape=None, input_data_range=None):
        self.shapes, self.ranges = input_shape or {}, input_data_range
        ports = _ports(model_input)
        self._check({port.name for port in ports})
        sample = {port.name: self._values(port, place) for place, port in enumerate(ports)}
        self.samples = [sample]
        self.rewind()

    def _check(self, names):
        from ..._names import near

        for name in [*self.shapes, *(self.ranges or {})]:
            if name not in names:
                raise ValueError(f"the model has no input {name!r}{near(name, names)}")
        for name in names - set(self.ranges if self.ranges is not None else names):
            raise ValueError(f"input_data_range has no range for input {name!r}")

    def _shape(self, port):
        if port.shape is None:
            raise ValueError(f"input {port.name!r} has any rank: input_shape has to give its sizes")
        given = self.shapes.get(port.name, ())
        sizes = list(given) if len(given) == len(port.shape) else list(port.shape)
        return [size if isinstance(size, int) and size > 0 else _size(len(sizes), axis) for axis, size in enumerate(sizes)]

    def _values(self, port, place):
        import numpy

        from ..._arrays import dtype_of

        shape, dtype = self._shape(port), dtype_of(port.type)
        rng = numpy.random.default_rng([42, place])
        if self.ranges is None:
            return rng.uniform(0, 1, shape).astype(dtype)
        low, high = self.ranges[port.name]
        if dtype.kind in "iub":
            return rng.integers(low, high, shape, endpoint=True).astype(dtype)
        return rng.uniform(low, high, shape).astype(dtype)


def _stems(folder):
    return {name[:-4]: os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".npy")}


class PathDataReader(CalibrationDataReader):
    """Samples of .npy files in a folder, or in one folder for each input with the same names of files.
    A batch dimension of 1 is added to arrays that lack it. One file at a time is in memory."""

    def __init__(self, model_input, data_path):
        ports = _ports(model_input)
        self.ranks = {port.name: len(port.shape) if port.shape is not None else None for port in ports}
        folders = {name: os.path.join(data_path, name) for name in self.ranks}
        if len(ports) == 1 and not os.path.isdir(folders[ports[0].name]):
            folders = {ports[0].name: data_path}
        self.files = {name: _stems(folder) for name, folder in folders.items()}
        first = self.files[ports[0].name]
        for name, files in self.files.items():
            if set(files) != set(first):
                raise ValueError(f"{folders[name]}: its .npy files have other names than those of {ports[0].name!r}")
        if not first:
            raise ValueError(f"{data_path}: there are no .npy files in it")
        self.names = list(first)
        self.rewind()

    def __len__(self):
        return len(self.names)

    def _array(self, name, stem):
        import numpy

        array = numpy.load(self.files[name][stem])
        return array[None] if self.ranks[name] == array.ndim + 1 else array

    def get_next(self):
        stem = next(self.iterator, None)
        return None if stem is None else {name: self._array(name, stem) for name in self.files}

    def rewind(self):
        self.iterator = iter(self.names)

    reset_iter = rewind
