"""The C library: its structs as the header has them, and where it is found."""

import ctypes
import os
import sys
from ctypes import (
    CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int64,
    c_size_t, c_uint, c_uint64, c_void_p,
)  # fmt: skip


class ErrorStruct(Structure):
    _fields_ = [("code", c_int), ("offset", c_int64), ("file", c_char * 256), ("place", c_char * 256),
                ("message", c_char * 512), ("hint", c_char * 256)]  # fmt: skip


class Setting(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class Array(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int), ("dims", POINTER(c_int64)),
                ("data", c_void_p), ("size", c_size_t)]  # fmt: skip


class Sized(Structure):
    """Structs that begin with their size."""

    def __init__(self, **members):
        super().__init__(**members)
        self.size = ctypes.sizeof(self)


NEXT = CFUNCTYPE(c_int, c_void_p, POINTER(POINTER(Array)), POINTER(c_size_t), POINTER(c_char_p),
                 POINTER(ErrorStruct))  # fmt: skip
REWIND = CFUNCTYPE(c_int, c_void_p, POINTER(ErrorStruct))


class Samples(Sized):
    _fields_ = [("size", c_size_t), ("next", NEXT), ("rewind", REWIND), ("context", c_void_p),
                ("count", c_uint64), ("name", c_char_p), ("keep", c_uint64)]  # fmt: skip


class Progress(Structure):
    _fields_ = [("stage", c_char_p), ("done", c_uint64), ("total", c_uint64), ("sample", c_char_p),
                ("seconds", c_double)]  # fmt: skip


PROGRESS = CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
LOG = CFUNCTYPE(None, c_void_p, c_char_p)


class Options(Sized):
    """Of calibration and evaluation."""

    _fields_ = [("size", c_size_t), ("samples", POINTER(Samples)), ("progress", PROGRESS), ("log", LOG),
                ("context", c_void_p)]  # fmt: skip


VALUE = CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(c_double), POINTER(ErrorStruct))


class AutoOptions(Sized):
    _fields_ = [("size", c_size_t), ("samples", POINTER(Samples)), ("progress", PROGRESS), ("log", LOG),
                ("value", VALUE), ("context", c_void_p), ("out", c_char_p)]  # fmt: skip


class AutoSummary(Structure):
    _fields_ = [("met", c_bool), ("outcome", c_char_p), ("needs", c_char_p), ("config", c_char_p),
                ("json", c_char_p), ("calibrate_samples", c_uint64), ("choose_samples", c_uint64),
                ("last_samples", c_uint64), ("best", c_uint64), ("seconds", c_double)]  # fmt: skip


class AutoPoint(Structure):
    _fields_ = [("name", c_char_p), ("text", c_char_p), ("config", c_char_p), ("why", c_char_p),
                ("chosen", c_double), ("last", c_double), ("sqnr", c_double), ("met", c_bool),
                ("cost", c_double), ("low_bits_share", c_double), ("bytes", c_uint64),
                ("seconds", c_double)]  # fmt: skip


class QuantizeOptions(Sized):
    _fields_ = [*Options._fields_, ("plan", POINTER(c_void_p)), ("overwrite", c_bool),
                ("quality", POINTER(c_void_p))]  # fmt: skip


class Summary(Sized):
    _fields_ = [("size", c_size_t), ("quantized_nodes", c_uint64), ("float_nodes", c_uint64),
                ("multiply_adds", c_double), ("quantized_multiply_adds", c_double),
                ("samples", c_uint64), ("seconds", c_double)]  # fmt: skip


class PlanNode(Structure):
    _fields_ = [("name", c_char_p), ("op_type", c_char_p), ("state", c_char_p), ("why", c_char_p),
                ("multiply_adds", c_double)]  # fmt: skip


class PlanTensor(Structure):
    _fields_ = [("name", c_char_p), ("role", c_char_p), ("type", c_char_p), ("why", c_char_p),
                ("remarks", c_char_p), ("shares", c_char_p), ("scales", c_uint64), ("scale", c_double),
                ("last_scale", c_double), ("zero_point", c_int64), ("low", c_double),
                ("high", c_double), ("readers", c_uint64)]  # fmt: skip


class PlanOperator(Structure):
    _fields_ = [("op_type", c_char_p), ("nodes", c_uint64), ("quantized_nodes", c_uint64),
                ("multiply_adds", c_double), ("quantized_multiply_adds", c_double),
                ("activations", c_char_p), ("weights", c_char_p), ("biases", c_char_p)]  # fmt: skip


class PlanRounding(Structure):
    _fields_ = [("layers", c_uint64), ("kept_layers", c_uint64), ("samples", c_uint64),
                ("held_out", c_uint64), ("nearest", c_double), ("solved", c_double), ("kept", c_bool),
                ("text", c_char_p)]  # fmt: skip


class QualitySummary(Structure):
    _fields_ = [("unmeasured", c_char_p), ("samples", c_uint64), ("first_sample", c_uint64),
                ("which", c_char_p), ("random", c_bool), ("worst", c_double), ("cause", c_char_p),
                ("next", c_char_p), ("text", c_char_p), ("seconds", c_double)]  # fmt: skip


class QualityOutput(Structure):
    _fields_ = [("name", c_char_p), ("sqnr", c_double), ("error", c_double), ("rows", c_uint64),
                ("same_class", c_uint64), ("nonfinite", c_uint64), ("reshaped", c_uint64)]  # fmt: skip


class PlanStage(Structure):
    _fields_ = [("name", c_char_p), ("seconds", c_double)]


class Score(Structure):
    _fields_ = [("output", c_char_p), ("metric", c_char_p), ("mean", c_double), ("worst", c_double),
                ("worst_sample", c_char_p), ("samples", c_uint64), ("higher", c_bool),
                ("missed", c_bool)]  # fmt: skip


class Format(Structure):
    _fields_ = [("name", c_char_p), ("help", c_char_p), ("bits", c_double), ("block", c_size_t),
                ("integer", c_bool), ("low", c_int64), ("high", c_int64), ("most", c_double),
                ("least", c_double)]  # fmt: skip


class RoundOptions(Sized):
    _fields_ = [("size", c_size_t), ("scale", c_float), ("zero_point", c_int64), ("axis", c_int),
                ("block_size", c_size_t), ("ties", c_int)]  # fmt: skip


class TensorStatistics(Structure):
    _fields_ = [("name", c_char_p), ("type", c_int), ("rank", c_int), ("dims", POINTER(c_int64)),
                ("samples", c_uint64), ("values", c_uint64), ("zeros", c_uint64), ("nans", c_uint64),
                ("infinities", c_uint64), ("nonfinite_sample", c_int64), ("nonfinite_name", c_char_p),
                ("min", c_double), ("max", c_double), ("moving_min", c_double), ("moving_max", c_double),
                ("mean", c_double), ("rms", c_double), ("channel_axis", c_int), ("channels", c_size_t),
                ("channel_min", POINTER(c_float)), ("channel_max", POINTER(c_float))]  # fmt: skip


class Bin(Structure):
    _fields_ = [("low", c_double), ("high", c_double), ("count", c_uint64)]


class RangeOptions(Sized):
    _fields_ = [("size", c_size_t), ("symmetry", c_int), ("power_of_two", c_bool)]


class Range(Sized):
    _fields_ = [("size", c_size_t), ("low", c_double), ("high", c_double), ("scale", c_double),
                ("zero_point", c_int64), ("position", c_int), ("reached_low", c_double),
                ("reached_high", c_double), ("clipped", c_double), ("error", c_double)]  # fmt: skip


class SaveOptions(Sized):
    _fields_ = [("size", c_size_t), ("data", c_int), ("external_file", c_char_p),
                ("external_min", c_uint64), ("keep_existing", c_bool), ("no_sync", c_bool)]  # fmt: skip


class Finding(Structure):
    _fields_ = [("rule", c_char_p), ("severity", c_int), ("error", POINTER(ErrorStruct))]


FINDING = CFUNCTYPE(c_bool, c_void_p, POINTER(Finding))


class CheckOptions(Sized):
    _fields_ = [("size", c_size_t), ("custom_operators", c_bool)]


class SessionOptions(Sized):
    _fields_ = [("size", c_size_t), ("onnxruntime", c_char_p), ("threads", c_uint),
                ("branches", c_uint), ("optimization", c_int), ("providers", POINTER(c_char_p)),
                ("provider_count", c_size_t), ("operator_libraries", POINTER(c_char_p)),
                ("operator_library_count", c_size_t), ("deterministic", c_bool),
                ("low_memory", c_bool), ("allow_links", c_bool), ("log", LOG),
                ("log_context", c_void_p)]  # fmt: skip


class ConvertOptions(Sized):
    _fields_ = [("size", c_size_t), ("onnxruntime", c_char_p), ("log", LOG), ("log_context", c_void_p)]


class Port(Structure):
    _fields_ = [("name", c_char_p), ("kind", c_char_p), ("type", c_int), ("rank", c_int),
                ("dims", POINTER(c_int64)), ("symbols", POINTER(c_char_p))]  # fmt: skip


class LlmOptions(Sized):
    _fields_ = [("size", c_size_t), ("log", LOG), ("context", c_void_p)]


class LlmSummary(Sized):
    _fields_ = [("size", c_size_t), ("tensors", c_uint64), ("weights", c_uint64), ("others", c_uint64),
                ("bytes_in", c_uint64), ("bytes_out", c_uint64), ("signal", c_double),
                ("error", c_double), ("minmax_error", c_double)]  # fmt: skip


class LlmWeight(Structure):
    _fields_ = [("name", c_char_p), ("type", c_char_p), ("layout", c_char_p), ("rank", c_int),
                ("dims", POINTER(c_int64)), ("rows", c_size_t), ("columns", c_size_t),
                ("groups", c_size_t), ("zero_points", c_bool), ("parts", c_size_t), ("block", c_size_t),
                ("block_bytes", c_size_t), ("halves", c_size_t), ("halves_at", c_size_t)]  # fmt: skip


_SETTINGS = [POINTER(Setting), c_size_t]
_ERROR = POINTER(ErrorStruct)
_OUT = POINTER(c_void_p)
_LLM = [c_char_p, c_char_p, *_SETTINGS, POINTER(LlmOptions), POINTER(LlmSummary), _ERROR]
_LOAD = c_void_p  # options of loading; always NULL here

# name: what it gives, what it takes
_PROTOTYPES = {
    "baryon_version": (c_char_p, []),
    "baryon_code_name": (c_char_p, [c_int]),
    "baryon_error_format": (c_int, [_ERROR, c_char_p, c_size_t]),
    "baryon_model_load": (c_int, [_OUT, c_char_p, _LOAD, _ERROR]),
    "baryon_model_load_bytes": (c_int, [_OUT, c_void_p, c_size_t, c_char_p, _LOAD, _ERROR]),
    "baryon_model_free": (None, [c_void_p]),
    "baryon_model_save": (c_int, [c_void_p, c_char_p, POINTER(SaveOptions), _ERROR]),
    "baryon_model_save_bytes": (c_int, [c_void_p, _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_bytes_free": (None, [c_void_p]),
    "baryon_model_check": (c_int, [c_void_p, POINTER(CheckOptions), FINDING, c_void_p, _ERROR]),
    "baryon_check_file": (c_int, [c_char_p, _LOAD, POINTER(CheckOptions), FINDING, c_void_p, _ERROR]),
    "baryon_quantize": (c_int, [c_void_p, *_SETTINGS, POINTER(QuantizeOptions), POINTER(Summary), _ERROR]),
    "baryon_quantize_file": (c_int, [c_char_p, c_char_p, *_SETTINGS, POINTER(QuantizeOptions),
                                     POINTER(Summary), _ERROR]),
    "baryon_plan_make": (c_int, [_OUT, c_void_p, *_SETTINGS, POINTER(QuantizeOptions), _ERROR]),
    "baryon_plan_free": (None, [c_void_p]),
    "baryon_plan_node": (POINTER(PlanNode), [c_void_p, c_size_t]),
    "baryon_plan_tensor": (POINTER(PlanTensor), [c_void_p, c_size_t]),
    "baryon_plan_operator": (POINTER(PlanOperator), [c_void_p, c_size_t]),
    "baryon_plan_stage": (POINTER(PlanStage), [c_void_p, c_size_t]),
    "baryon_plan_rounding": (POINTER(PlanRounding), [c_void_p]),
    "baryon_quality_free": (None, [c_void_p]),
    "baryon_quality_summary": (POINTER(QualitySummary), [c_void_p]),
    "baryon_quality_output": (POINTER(QualityOutput), [c_void_p, c_size_t]),
    "baryon_calibrate": (c_int, [_OUT, c_void_p, *_SETTINGS, POINTER(Options), _ERROR]),
    "baryon_calibrate_file": (c_int, [_OUT, c_char_p, *_SETTINGS, POINTER(Options), _ERROR]),
    "baryon_statistics_load": (c_int, [_OUT, c_char_p, _ERROR]),
    "baryon_statistics_free": (None, [c_void_p]),
    "baryon_statistics_save": (c_int, [c_void_p, c_char_p, _ERROR]),
    "baryon_statistics_merge": (c_int, [c_void_p, c_void_p, _ERROR]),
    "baryon_statistics_total": (c_uint64, [c_void_p]),
    "baryon_statistics_covered": (c_uint64, [c_void_p]),
    "baryon_statistics_skipped": (c_uint64, [c_void_p]),
    "baryon_statistics_tensor_count": (c_size_t, [c_void_p]),
    "baryon_statistics_tensor": (POINTER(TensorStatistics), [c_void_p, c_size_t]),
    "baryon_statistics_find": (POINTER(TensorStatistics), [c_void_p, c_char_p]),
    "baryon_statistics_histogram": (c_int, [c_void_p, c_char_p, POINTER(POINTER(Bin)),
                                            POINTER(c_size_t), _ERROR]),
    "baryon_statistics_range": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, POINTER(RangeOptions),
                                        POINTER(Range), _ERROR]),
    "baryon_session_open": (c_int, [_OUT, c_char_p, POINTER(SessionOptions), _ERROR]),
    "baryon_session_open_bytes": (c_int, [_OUT, c_void_p, c_size_t, POINTER(SessionOptions), _ERROR]),
    "baryon_session_close": (None, [c_void_p]),
    "baryon_session_runtime": (c_char_p, [c_void_p]),
    "baryon_session_input_count": (c_size_t, [c_void_p]),
    "baryon_session_input": (POINTER(Port), [c_void_p, c_size_t]),
    "baryon_session_output_count": (c_size_t, [c_void_p]),
    "baryon_session_output": (POINTER(Port), [c_void_p, c_size_t]),
    "baryon_session_run": (c_int, [c_void_p, POINTER(Array), c_size_t, POINTER(c_char_p), c_size_t,
                                   _OUT, _ERROR]),
    "baryon_session_cancel": (None, [c_void_p]),
    "baryon_session_resume": (None, [c_void_p]),
    "baryon_run_output_count": (c_size_t, [c_void_p]),
    "baryon_run_output": (POINTER(Array), [c_void_p, c_size_t]),
    "baryon_run_free": (None, [c_void_p]),
    "baryon_evaluate_models": (c_int, [_OUT, c_void_p, c_void_p, *_SETTINGS, POINTER(Options), _ERROR]),
    "baryon_evaluate_folders": (c_int, [_OUT, c_char_p, c_char_p, *_SETTINGS, POINTER(Options), _ERROR]),
    "baryon_auto": (c_int, [_OUT, c_void_p, *_SETTINGS, POINTER(AutoOptions), _ERROR]),
    "baryon_auto_free": (None, [c_void_p]),
    "baryon_auto_model": (c_void_p, [c_void_p]),
    "baryon_auto_summary": (POINTER(AutoSummary), [c_void_p]),
    "baryon_auto_point": (POINTER(AutoPoint), [c_void_p, c_size_t]),
    "baryon_report_html": (c_int, [c_void_p, c_size_t, _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_compare": (c_int, [_OUT, c_void_p, c_void_p, c_void_p, *_SETTINGS, POINTER(Options), _ERROR]),
    "baryon_comparison_json": (c_char_p, [c_void_p]),
    "baryon_comparison_free": (None, [c_void_p]),
    "baryon_evaluation_free": (None, [c_void_p]),
    "baryon_evaluation_score": (POINTER(Score), [c_void_p, c_size_t]),
    "baryon_evaluation_samples": (c_uint64, [c_void_p]),
    "baryon_convert": (c_int, [c_void_p, c_char_p, POINTER(ConvertOptions), _ERROR]),
    "baryon_format_at": (POINTER(Format), [c_size_t]),
    "baryon_format_find": (POINTER(Format), [c_char_p, _ERROR]),
    "baryon_round": (c_int, [c_char_p, c_void_p, POINTER(c_int64), c_int, POINTER(RoundOptions),
                             c_void_p, _ERROR]),
    "baryon_preset_open": (c_int, [_OUT, c_char_p, _ERROR]),
    "baryon_preset_free": (None, [c_void_p]),
    "baryon_preset_setting": (POINTER(Setting), [c_void_p, c_size_t]),
    "baryon_preset_quark": (POINTER(Setting), [c_void_p, c_size_t]),
    "baryon_llm_quantize": (c_int, _LLM),
    "baryon_llm_dequantize": (c_int, _LLM),
    "baryon_llm_export": (c_int, _LLM),
    "baryon_llm_convert": (c_int, _LLM),
    "baryon_llm_auto": (c_int, [c_char_p, c_char_p, *_SETTINGS, POINTER(LlmOptions), _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_llm_evaluate": (c_int, [c_char_p, *_SETTINGS, POINTER(LlmOptions), _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_llm_inspect": (c_int, [c_char_p, c_bool, _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_llm_compare": (c_int, [c_char_p, c_char_p, c_uint, _OUT, POINTER(c_size_t), _ERROR]),
    "baryon_llm_open": (c_int, [_OUT, c_char_p, c_bool, _ERROR]),
    "baryon_llm_close": (None, [c_void_p]),
    "baryon_llm_weight_at": (POINTER(LlmWeight), [c_void_p, c_size_t]),
    "baryon_llm_find": (POINTER(LlmWeight), [c_void_p, c_char_p]),
    "baryon_llm_part": (POINTER(Array), [c_void_p, c_char_p, c_size_t]),
    "baryon_llm_values": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, _ERROR]),
    "baryon_llm_codes": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, _ERROR]),
    "baryon_llm_scales": (c_int, [c_void_p, c_char_p, c_void_p, c_void_p, c_size_t, _ERROR]),
    "baryon_llm_groups": (c_int, [c_void_p, c_char_p, c_void_p, c_size_t, _ERROR]),
    "baryon_list": (c_char_p, [c_char_p, c_size_t, POINTER(c_char_p)]),
}  # fmt: skip

# Names of the libraries: ours, that of the operators, ONNX Runtime's, by the system.
FILE, OPERATORS, RUNTIME = {
    "win32": ("baryon.dll", "baryon_ops.dll", "onnxruntime.dll"),
    "darwin": ("libbaryon.dylib", "libbaryon_ops.dylib", "libonnxruntime."),
}.get(sys.platform, ("libbaryon.so", "libbaryon_ops.so", "libonnxruntime.so"))

_loaded = None


def path():
    """Of the library: where BARYON_LIBRARY says, in the package, else what the system finds."""
    named = os.environ.get("BARYON_LIBRARY")
    if named:
        return os.path.abspath(named)
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", FILE)
    return beside if os.path.exists(beside) else "libbaryon.so.0" if FILE == "libbaryon.so" else FILE


def library():
    """The library, loaded when it is asked for first."""
    global _loaded
    if _loaded is None:
        try:
            loaded = ctypes.CDLL(path())
        except OSError as error:
            raise ImportError(f"the library of Baryon cannot be loaded: {error}; install the wheel "
                              "('make wheel'), or set BARYON_LIBRARY to libbaryon.so") from error
        for name, (gives, takes) in _PROTOTYPES.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = gives, takes
        _loaded = loaded
    return _loaded


def onnxruntime():
    """The folder of the onnxruntime package with the library in it, which is not imported; None
    when there is none, or BARYON_ONNXRUNTIME says another one."""
    import importlib.util

    if os.environ.get("BARYON_ONNXRUNTIME"):
        return None
    found = importlib.util.find_spec("onnxruntime")
    if not found or not found.origin:
        return None
    folder = os.path.join(os.path.dirname(found.origin), "capi")
    has = os.path.isdir(folder) and any(n.startswith(RUNTIME) for n in os.listdir(folder))
    return folder if has else None
