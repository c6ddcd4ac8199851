"""Quark's searches for a configuration, over baryon.auto(): AutoSearch and AutoSearchPro."""

from .auto_search_pro import AutoSearchPro
from .auto_search_v1 import AutoSearch, AutoSearchConfig
from .qconfig_mapping import get_auto_search_config

__all__ = ["AutoSearch", "AutoSearchConfig", "AutoSearchPro", "get_auto_search_config"]

LISTS = ("SearchSpace", "generate_all_configs")


def refused(name):
    return NotImplementedError(f"{name} is not supported: no list of configurations is tried one by one; baryon.auto() "
                               "and the command 'baryon auto' search for one that has the quality asked for")  # fmt: skip


def __getattr__(name):
    from ...._names import missing

    if name in LISTS:
        raise refused(name)
    raise missing("baryon.onnx.quantization.auto_search", name, __all__)
