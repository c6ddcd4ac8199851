"""Configurations of AutoSearchPro that are ready. They name the types; how these are reached is what the
search finds."""

from ...._names import near

_TYPES = {  # activations, weights
    "ADVANCED": ("Int8Spec", "Int8Spec"), "XINT8": ("XInt8Spec", "XInt8Spec"), "A8W8": ("Int8Spec", "Int8Spec"),
    "A16W8": ("Int16Spec", "Int8Spec"),
}  # fmt: skip


def get_auto_search_config(config_name):
    """A dict of its own, by "XINT8_SEARCH" or "XINT8". What it lacks of Quark's has no effect here."""
    name = str(config_name).removesuffix("_SEARCH")
    if name not in _TYPES:
        names = [f"{known}_SEARCH" for known in _TYPES]
        raise ValueError(f"there is no configuration {config_name!r} of a search{near(config_name, names)}")
    activation, weight = _TYPES[name]
    groups = {f"{group}_params": {} for group in ("activation", "weight", "cle", "adaround", "adaquant")}
    return {
        "search_space": {"activation": [activation], "weight": [weight], **groups},
        "model_input": None, "calib_data_reader": None, "eval_data_reader": None, "output_dir": "./output",
        "temp_dir": None, "search_evaluator": None, "search_metric": None,
    }  # fmt: skip
