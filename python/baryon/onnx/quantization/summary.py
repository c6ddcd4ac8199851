"""What quantize_model() prints: operators with their types, what stays float and why, what rounding
reconstruction came to, and how far the outputs are from those of the float model."""

import itertools

_JUDGED = 8  # samples
_REASONS = 5
_HEADS = ("Op Type", "Float Model", "Quantized", "Activation", "Weights", "Bias")


def _types(text):
    return text.upper() or "-"


def table(head, rows):
    rows = [head, *rows]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(head))]
    for row in rows:
        cells = (str(cell).rjust(width) if isinstance(cell, int) else str(cell).ljust(width)
                 for cell, width in zip(row, widths))  # fmt: skip
        yield "  ".join(cells).rstrip()


def _operators(plan):
    yield from table(_HEADS, ((row.op_type, row.nodes, row.quantized_nodes, _types(row.activations),
                                _types(row.weights), _types(row.biases)) for row in plan.operators))  # fmt: skip


def _floats(plan):
    """What could be quantized and is not, by reason."""
    reasons = {}
    for node in plan.nodes:
        if node.state == "float":
            reasons.setdefault(node.why, []).append(node)
    for why, nodes in itertools.islice(sorted(reasons.items(), key=lambda row: -len(row[1])), _REASONS):
        more = f" and {len(nodes) - 1} more" if len(nodes) > 1 else ""
        yield f"stays float: {nodes[0].op_type} {nodes[0].name!r}{more}: {why}"
    if len(reasons) > _REASONS:
        yield f"stays float: {len(reasons) - _REASONS} more reasons, see result.plan.nodes"


class First:
    """The source of samples that a reader is, which keeps the first ones."""

    def __init__(self, reader):
        self.reader, self.kept, self.begun, self.ended = reader, [], False, False
        if callable(getattr(reader, "rewind", None)):
            self.rewind = self._rewind

    def __len__(self):
        return len(self.reader)

    def _rewind(self):
        self.begun = len(self.kept) >= _JUDGED
        if not self.begun:
            self.kept = []
        self.reader.rewind()

    def first(self):
        """The first samples, which are asked for now where nobody did before."""
        while len(self.kept) < _JUDGED and not self.ended:
            self.get_next()
        return self.kept

    def get_next(self):
        sample = self.reader.get_next()
        self.ended = self.ended or sample is None
        if sample is not None and not self.begun and len(self.kept) < _JUDGED and hasattr(sample, "items"):
            self.kept.append(dict(sample))
        return sample


def summary(result):
    """The lines of it."""
    plan = result.plan
    yield from _operators(plan)
    yield ""
    yield from _floats(plan)
    if result.multiply_adds:
        share = 100 * result.quantized_multiply_adds / result.multiply_adds
        yield f"quantized: {result.quantized_nodes} nodes, {share:.1f} % of the multiply-adds"
    else:
        yield f"quantized: {result.quantized_nodes} nodes"
    if result.rounding:
        yield result.rounding.text
    if result.quality:
        yield from result.quality.text.splitlines()
    yield f"quantized model: {result.path or f'{len(result.model)} bytes'}, in {result.seconds:.2f} s"
