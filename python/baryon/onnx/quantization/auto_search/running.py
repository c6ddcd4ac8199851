"""What both searches do: the call of baryon.auto(), and what they leave in the folder."""

import math
import os

from ...._names import as_keywords
from ...._notices import notice
from ..summary import table

MODEL, LOG = "quantized_model.onnx", "auto_search.log"
_ORDER = "types are tried from the cheapest on, each where the one before misses the goal"
IDLE = {
    "search_algo": _ORDER, "n_trials": _ORDER, "two_stage_search": _ORDER, "advanced_fastft_search": _ORDER,
    "advanced_fastft_params": _ORDER, "find_n_candidates": _ORDER, "find_best_candidate": _ORDER,
    "iteration_limit": "time_limit ends a search, and the best is written",
    "n_jobs": "each candidate has all processors", "search_devices": "candidates run on the processor",
    "study_storage_db": f"no study is kept, {LOG} has all steps",
    "load_study_if_exists": f"no study is kept, {LOG} has all steps",
    "study_name": f"no study is kept, {LOG} has all steps",
    "plot_results": "search.report() is the page of all steps",
}  # fmt: skip


def mention_idle(given):
    """One notice for each key without an effect."""
    for name, value in given.items():
        if name in IDLE and value not in (None, False, -1, {}):
            notice("%s has no effect: %s", name, IDLE[name])


def _says_something(values):
    """Whether a list of the space is more than [None]."""
    return bool(values) and any(value is not None for value in (values if isinstance(values, (list, dict)) else [values]))


def mention_space(what, given, read, target):
    """One notice for all that is not read of a search space or a configuration."""
    names = [repr(name) for name, values in given.items() if name not in read and _says_something(values)]
    if names:
        notice("%s: what the ladder of target %s has is tried in place of %s ('baryon list ladders')", what, target,
               ", ".join(names))  # fmt: skip


def samples_of(data):
    """All samples of a reader, a list, or what else data may be."""
    from ...._samples import _readings

    return list(_readings(data)[0]())


class Running:
    """found: the baryon.Search. path: of the model."""

    def __init__(self, model, data, folder, goal, target, time_limit=None, log=None):
        import baryon

        os.makedirs(folder, exist_ok=True)
        self.goal, self.target, self.path = goal, target, os.path.join(folder, MODEL)
        found = baryon.auto(model, self.path, data, goal=goal.goal, at_least=goal.at_least, at_most=goal.at_most,
                            overwrite=True, target=target, time_limit=time_limit)  # fmt: skip
        self.found, self.needs = found, as_keywords(found.needs or "")
        with open(log or os.path.join(folder, LOG), "w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in self._log())
        if not found.met:
            notice("%s is missed: %s", goal.text, self.needs or found.outcome)

    def _log(self):
        found = self.found
        yield f"model    {found.name}"
        yield f"target   {self.target}"
        yield f"goal     {self.goal.text}"
        yield f"outcome  {found.outcome}"
        if self.needs:
            yield f"needs    {self.needs}"
        yield f"written  {self.path}, {len(found.model)} bytes, and its config beside it"
        yield ""
        yield from table(("", "Step", self.goal.name, "Met", "Cost", "8 bits", "Size", "Seconds"), map(self._row, found.points))

    def _row(self, point):
        star = "*" if point is self.found.best else ""
        name = f"{point.name}, {point.text}" if point.text else point.name
        if point.why:
            return (star, name, "-", point.why, "-", "-", "-", "-")
        return (star, name, f"{point.chosen:.6g}", "yes" if point.met else "no", f"{point.cost:.4g}",
                f"{100 * point.low_bits_share:.1f} %", point.bytes, f"{point.seconds:.2f}")  # fmt: skip

    def facts(self, place):
        """Of a point, with Quark's names where it has them."""
        point = self.found.points[place]
        taken = point is self.found.best
        return {
            "config_index": place, "name": point.name, "difference": None if math.isnan(point.chosen) else point.chosen,
            "cost": point.cost, "size": len(self.found.model) if taken else point.bytes,
            "model_path": self.path if taken else None, "config": self.found.config if taken else point.config,
        }  # fmt: skip

    def candidates(self):
        """All that meet the goal, the one that is written first, then by cost."""
        points = self.found.points
        met = [place for place, point in enumerate(points) if point.met and not point.why]
        met.sort(key=lambda place: (points[place] is not self.found.best, points[place].cost, points[place].bytes))
        return [self.facts(place) for place in met] if self.found.met else []

    def best(self):
        place = next(place for place, point in enumerate(self.found.points) if point is self.found.best)
        return {**self.facts(place), "target": self.target, "goal": self.goal.text, "met": bool(self.found.met),
                "outcome": self.found.outcome}  # fmt: skip
