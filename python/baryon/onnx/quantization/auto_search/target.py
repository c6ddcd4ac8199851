"""The target of a search by the types that a search space names: xint8 where it has powers of two and 8
bits alone, else any."""

from ..config import spec, words
from ..config.config import Config


def _last(value):
    """QInt8 of QuantType.QInt8."""
    return str(words.plain(value)).rpartition(".")[2]


def _target(narrow):
    return "xint8" if narrow else "any"


def of_fields(space, config):
    """What lists of fields leave out is in the configuration."""
    fields = config.global_quant_config if isinstance(config, Config) else None
    if fields is None:
        layer = config.global_config
        held = all(one.scale_type is spec.ScaleType.PowerOf2 for one in (layer.activation, layer.weight))
        types = {"activation_type": layer.activation.data_type, "weight_type": layer.weight.data_type}
    else:
        held = str(fields.calibrate_method).startswith("PowerOfTwoMethod.")
        types = {name: getattr(fields, name) for name in ("activation_type", "weight_type")}
    methods = space.get("calibrate_method")
    powers = all(str(method).startswith("PowerOfTwoMethod.") for method in methods) if methods else held
    named = [_last(value) for name, usual in types.items() for value in space.get(name) or [usual]]
    return _target(powers and all(name in ("QInt8", "QUInt8", "Int8", "UInt8") for name in named))


def _specifications():
    return [name for name in vars(spec) if name.endswith("Spec") and name[0].isupper()]


def _is_narrow(space, role):
    names, params = space.get(role) or ["Int8Spec"], space.get(f"{role}_params") or {}
    words.check_keys(f"search_space: {role}: the list of specifications", names, _specifications())
    scales = [_last(value) for value in params.get("scale_type") or []]
    types = [_last(value) for value in params.get("data_type") or []]
    if scales and set(scales) != {"PowerOf2"} or not set(types) <= {"Int8", "UInt8"}:
        return False
    return set(names) <= ({"XInt8Spec", "Int8Spec", "UInt8Spec"} if scales else {"XInt8Spec"})


def of_specifications(space):
    return _target(all([_is_narrow(space, role) for role in ("activation", "weight")]))
