"""Options of Quark's that are for ModelQuantizer and not for the library: what is printed, what is
evaluated afterwards, where ranges are kept."""

from ..._notices import notice

_UNSAFE = ("EncryptionAlgorithm: models are not encrypted. Only the result is written, to the file that you name, "
           "and nothing is cached besides; encrypt that file, or take the model in memory (model_output=None)")  # fmt: skip


def truth(value):
    """Of options that may be texts: "False" is not true."""
    return str(value).lower() not in ("false", "none", "0", "")


class OwnOptions:
    """Takes them out of `options`, the rest of which stays in self.options."""

    def __init__(self, options):
        extra = dict(options.get("extra_options") or {})
        self.options = {**options, "extra_options": extra} if "extra_options" in options else dict(options)
        printed = extra.pop("PrintSummary", True), self.options.pop("print_summary", True)
        self.summary = all(truth(value) for value in printed)
        self.evaluates = "EvalMetrics" in extra
        extra.pop("EvalMetrics", None)
        self.reader = extra.pop("EvalDataReader", None)
        named = [extra.pop(name, None) for name in ("SaveAndRestore", "TensorsRangeFile")]
        self.ranges_file = next((path for path in named if path), None)
        if extra.pop("EncryptionAlgorithm", None):
            raise NotImplementedError(_UNSAFE)
        if self.reader is not None and not self.evaluates:
            notice("EvalDataReader has no effect without EvalMetrics")

    def evaluate(self, model, quantized, data):
        """As Quark's log has it: the first output alone, on EvalDataReader's samples, else `data`."""
        import baryon

        if self.reader is None and not data:
            raise ValueError("EvalMetrics: there are no samples to evaluate with; give EvalDataReader")
        found = baryon.evaluate(model, quantized, data if self.reader is None else self.reader, progress=False)
        first = found.scores[0].output
        cosine, distance = found[first, "cosine"], found[first, "l2"]
        notice("Mean Cosine Similarity: %.6g, Min Cosine Similarity: %.6g", cosine.mean, cosine.worst)
        notice("Mean L2 Distance: %.6g, Max L2 Distance: %.6g", distance.mean, distance.worst)
