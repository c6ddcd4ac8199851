#!/usr/bin/env python3
"""Writes calls of every public function with arguments that it must refuse, out of the headers.

    misuse.py OUT    writes a part of tests/unit/test_misuse.c

Each function is called with good arguments, then with one of them bad: NULL for every pointer
(also for members of structs), the least and greatest number for every integer, a number that no
enum has, sizes of options that no version has. Tables below say which pointers may be NULL and
what a good argument is; a row that no header has any more is an error.
"""

import re
import sys
from pathlib import Path

HEADERS = sorted(Path("include/baryon").glob("*.h"))

# Pointers that may be NULL, by parameter; "" stands for all functions.
NULL_IS_FINE = {
    "": "err options theirs context",
    "baryon_model_load_bytes": "folder",
    "baryon_model_check": "visit",
    "baryon_check_file": "load visit",
    "baryon_model_opset": "domain",
    "baryon_model_set_opset": "domain",
    "baryon_model_set_metadata": "value",
    "baryon_graph_add_node": "domain name",
    "baryon_graph_insert_on_edge": "domain",
    "baryon_graph_insert_before_output": "domain",
    "baryon_node_set_input": "value",
    "baryon_value_replace_uses": "except",
    "baryon_tensor_new": "bytes",
    "baryon_graph_add_input": "symbols",
    "baryon_value_make_output": "symbols",
    "baryon_model_prune": "removed",
    "baryon_quantize": "summary",
    "baryon_quantize_file": "summary",
    "baryon_compare": "reference",
    "baryon_llm_quantize": "summary",
    "baryon_llm_dequantize": "summary",
    "baryon_llm_convert": "summary",
    "baryon_llm_export": "summary",
    "baryon_llm_scales": "zero_points",
}  # fmt: skip

# A count that goes with a pointer of the caller's: what it says cannot be checked.
COUNTS = {
    "count", "input_count", "output_count", "start_count", "end_count", "more_count",
    "provider_count", "operator_library_count",
}  # fmt: skip
SIZES = {"baryon_error_format", "baryon_model_load_bytes", "baryon_session_open_bytes", "baryon_convert_places",
         "baryon_report_html"}

LLM_LAYER = '"model.layers.0.mlp.down_proj.weight"'

# Good arguments: by function and parameter, by parameter, by type. The world is in test_misuse.c.
GOOD = {
    "baryon_model_load_bytes.bytes": "world.bytes",
    "baryon_model_load_bytes.size": "world.size",
    "baryon_bytes_free.bytes": "world.bytes",
    "baryon_session_open_bytes.bytes": "world.bytes",
    "baryon_session_open_bytes.size": "world.size",
    "baryon_session_run.outputs": "&world_output",
    "baryon_statistics_load.path": '"one.stats"',
    "baryon_statistics_save.path": '"saved.stats"',
    "baryon_statistics_merge.other": "world_statistics(\"two.stats\")",
    "baryon_model_save.path": '"saved.onnx"',
    "baryon_quantize_file.out": '"quantized.onnx"',
    "baryon_evaluate_models.quantized": "world.second",
    "baryon_auto.settings": "many_setting",
    "baryon_report_html.json": "small_report",
    "baryon_report_html.size": "sizeof small_report - 1",
    "baryon_compare.first": "world.second",
    "baryon_compare.second": "world_quantized()",
    "baryon_evaluate_folders.baseline": '"results"',
    "baryon_evaluate_folders.quantized": '"results"',
    "baryon_evaluate_folders.settings": "peak_setting",
    "baryon_model_new.ir_version": "10",
    "baryon_model_new.opset": "21",
    "baryon_node_remove.node": "world.unread",
    "baryon_value_remove_initializer.value": "world.spare",
    "baryon_value_duplicate_initializer.value": "world.spare",
    "baryon_graph_add_node.name": '"new node"',
    "baryon_value_rename.name": '"new name"',
    "baryon_graph_add_input.name": '"new input"',
    "baryon_tensor_new.name": '"new tensor"',
    "baryon_tensor_new.size": "sizeof floats",
    "baryon_tensor_new.bytes": "floats",
    "baryon_preset_open.name": '"XINT8"',
    "baryon_format_find.name": '"int8"',
    "baryon_type_by_name.name": '"int8"',
    "baryon_run_find_output.name": '"z"',
    "baryon_convert_places.in": "room",
    "baryon_convert_places.out": "more_room",
    "baryon_convert_places.size": "sizeof room",
    "baryon_round.in": "floats",
    "baryon_round.out": "floats_out",
    "baryon_error_format.err": "&a_problem",
    "baryon_error_format.buf": "room",
    "baryon_error_format.size": "sizeof room",
    "baryon_node_set_ints.values": "dims",
    "baryon_node_set_floats.values": "floats",
    "baryon_llm_quantize.out": '"none"',
    "baryon_llm_quantize.settings": "llm_quantize_setting",
    "baryon_llm_dequantize.model": '"llm.quantized"',
    "baryon_llm_dequantize.out": "world_out()",
    "baryon_llm_dequantize.settings": "llm_dequantize_setting",
    "baryon_llm_auto.model": '"llm"',
    "baryon_llm_auto.out": "world_out()",
    "baryon_llm_auto.settings": "llm_auto_setting",
    "baryon_llm_evaluate.settings": "llm_eval_setting",
    "baryon_llm_export.model": '"llm.quantized"',
    "baryon_llm_export.out": "world_out()",
    "baryon_llm_export.settings": "llm_export_setting",
    "baryon_llm_convert.out": '"llm.gguf"',
    "baryon_llm_convert.settings": "llm_convert_setting",
    "baryon_llm_open.model": '"llm.quantized"',
    "baryon_llm_compare.a": '"llm"',
    "baryon_llm_compare.b": '"llm.quantized"',
    "baryon_llm_compare.threads": "1",
    "baryon_llm_values.name": LLM_LAYER,
    "baryon_llm_values.out": "llm_floats",
    "baryon_llm_values.count": "LLM_WIDTH * LLM_WIDTH",
    "baryon_llm_codes.name": LLM_LAYER,
    "baryon_llm_codes.out": "llm_codes",
    "baryon_llm_codes.count": "LLM_WIDTH * LLM_WIDTH",
    "baryon_llm_scales.name": LLM_LAYER,
    "baryon_llm_scales.out": "llm_floats",
    "baryon_llm_scales.count": "LLM_WIDTH",
    "baryon_llm_groups.name": LLM_LAYER,
    "baryon_llm_groups.out": "llm_zeros",
    "baryon_llm_groups.count": "LLM_WIDTH",
    "zero_points": "llm_zeros",
    "const char * model": '"llm"',
    "path": '"model.onnx"',
    "passes": '"passes.yaml"',
    "folder": '"."',
    "list": '"presets"',
    "inputs": "&world.value",
    "more_inputs": "&world.value",
    "output_names": "&new_output",
    "starts": "&world.node",
    "ends": "&world.node",
    "marks": "marks",
    "dims": "dims",
    "symbols": "no_symbols",
    "rank": "2",
    "size_t count": "1",
    "input_count": "1",
    "output_count": "1",
    "start_count": "1",
    "end_count": "1",
    "more_count": "0",
    "int type": "1",
    "const char * type": '"int8"',
    "name": '"x"',
    "stem": '"x"',
    "op_type": '"Relu"',
    "domain": '""',
    "key": '"key"',
    "const char * tensor": '"x"',
    "method": '"minmax"',
    "format": '"int8"',
    "old": "world.middle",
    "new_value": "world.value",
    "version": "3",
    "graph": "world.graph",
    "reader": "world.node",
    "except": "world.node",
    "visit": "count_finding",
    "context": "&visits",
    "symbol": "&world_symbol",
    "help": "&world_help",
    "size_t * slot": "&world_slot",
}  # fmt: skip
BY_TYPE = {
    "struct baryon_model *": "world.model",
    "struct baryon_graph *": "world.graph",
    "struct baryon_node *": "world.node",
    "struct baryon_value *": "world.middle",
    "struct baryon_tensor *": "world.loose",
    "struct baryon_attribute *": "world.attribute",
    "struct baryon_session *": "world_session()",
    "struct baryon_run *": "world_run()",
    "struct baryon_statistics *": 'world_statistics("one.stats")',
    "struct baryon_plan *": "world_plan()",
    "struct baryon_quality *": "world_quality()",
    "struct baryon_preset *": "world_preset()",
    "struct baryon_evaluation *": "world_evaluation()",
    "struct baryon_auto *": "world_search()",
    "struct baryon_comparison *": "world_comparison()",
    "struct baryon_llm *": "world_llm()",
    "struct baryon_error *": "&problem",
    "struct baryon_bin **": "&out_bins",
    "void *": "NULL",
    "const void **": "&world_bytes",
    "void **": "&out_bytes",
    "size_t *": "&out_size",
    "const char *": '"text"',
    "const char **": "&world_help",
}

INTEGERS = {
    "int": ("INT_MIN", "-1", "INT_MAX"),
    "int64_t": ("INT64_MIN", "-1", "INT64_MAX"),
    "size_t": ("SIZE_MAX", "SIZE_MAX / 2"),
    "uint64_t": ("UINT64_MAX",),
    "unsigned": ("UINT_MAX",),
    "double": ("NAN", "-INFINITY"),
    "float": ("NAN", "-INFINITY"),
}
# Structs that come in arrays, and a good one.
ELEMENTS = {"baryon_array": "input", "baryon_setting": "random_setting"}


class Headers:
    def __init__(self):
        text = "\n".join(path.read_text() for path in HEADERS)
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.S | re.M)
        self.functions = [self.function(m) for m in re.finditer(r"BARYON_API\s+([^;]*?)\b(baryon_\w+)\(([^;]*)\);", text)]
        self.structs = {m[1]: self.members(m[2]) for m in re.finditer(r"struct (baryon_\w+)\s*\{([^}]*)\};", text)}

    @staticmethod
    def split(text):
        """"const char *const *names" gives the type and the name."""
        text = " ".join(text.split())
        match = re.fullmatch(r"(.*?)(\w+)", text)
        return match[1].strip(), match[2]

    def function(self, match):
        result = " ".join(match[1].split())
        params = [] if match[3].strip() == "void" else [self.split(p) for p in match[3].split(",")]
        return match[2], result, params

    def members(self, body):
        out = []
        for part in body.split(";"):
            part = " ".join(part.split())
            if not part:
                continue
            if pointer := re.fullmatch(r".*\(\*(\w+)\)\(.*\)", part):
                out.append(("function *", pointer[1]))
                continue
            first, *more = re.sub(r"\[\w+\]", "", part).split(",")
            kind, name = self.split(first)
            out.append((kind, name))
            out += [(kind.rstrip("* ") + (" *" if "*" in m else ""), m.strip(" *")) for m in more]
        return out


def is_pointer(kind):
    return kind.endswith(("*", "*const"))


def plain(kind):
    return kind.replace("const ", "").replace("*const *", "**")


def local_name(name):
    """Of the variable that is given for the parameter."""
    return "the_" + name


class Writer:
    """One C function for each public one."""

    def __init__(self, headers):
        self.headers = headers
        self.frees = {
            plain(params[0][0]): name
            for name, result, params in headers.functions
            if re.search(r"_(free|close)$", name) and name != "baryon_bytes_free"
        }
        self.used = set()

    def good(self, function, kind, name):
        for key in (f"{function}.{name}", f"{kind} {name}", name):
            if key in GOOD:
                self.used.add(key)
                return GOOD[key]
        for key in (kind, plain(kind)):
            if key in BY_TYPE:
                return BY_TYPE[key]
        if is_pointer(kind):
            sys.exit(f"{function}: no good value for {kind} {name}")
        return "0"

    def struct_of(self, kind):
        """The name of a struct with members that the pointer is to, or None."""
        match = re.fullmatch(r"(?:const )?struct (baryon_\w+) \*", kind)
        return match[1] if match and match[1] in self.headers.structs else None

    def refused(self, function):
        """What a refusal is checked by: only functions with an error say why."""
        return "REFUSED" if ("struct baryon_error *", "err") in function[2] else "SAFE"

    def argument(self, function, kind, name):
        """(declarations, variants, what to free) of one parameter."""
        fine = name in NULL_IS_FINE[""].split() + NULL_IS_FINE.get(function[0], "").split()
        if fine and name in NULL_IS_FINE.get(function[0], "").split():
            self.used.add(f"{function[0]}:{name}")
        wants = "FINE" if fine else self.refused(function)
        local = local_name(name)
        null = [(f"{name} = NULL", f"{local} = NULL;", wants)]
        struct = self.struct_of(kind)
        if re.fullmatch(r"struct baryon_\w+ \*\*", kind) and kind not in BY_TYPE:
            inner = kind[:-1]
            free = self.frees.get(inner)
            if not free:
                sys.exit(f"{function[0]}: nothing frees {inner}")
            return [f"{inner}{local}_ = NULL;", f"{kind}{local} = &{local}_;"], null, f"{free}({local}_);"
        if struct and self.headers.structs[struct][0] == ("size_t", "size"):
            return self.options(function, struct, kind, name, null)
        if struct in ELEMENTS:
            return self.element(function, struct, kind, name, null)
        value = self.good(function[0], kind, name)
        declared = [f"{kind}{'' if kind.endswith('*') else ' '}{local} = {value};"]
        if is_pointer(kind):
            if name == "more_inputs":  # none are counted
                null = []
            if function[0] == "baryon_session_run" and name == "outputs":
                null = [("outputs = NULL, none counted", f"{local} = NULL; {local_name('output_count')} = 0;", "FINE"), *null]
            if re.search(r"_(free|close)$", function[0]):
                return declared, [(f"{name} = NULL", f"{local} = NULL;", "FINE")], None
            return declared, null, None
        return declared, self.numbers(function, kind, name), None

    def numbers(self, function, kind, name, target=None):
        target = target or local_name(name)
        if name in COUNTS or (name == "size" and function[0] in SIZES) or kind == "bool":
            return []
        if kind.startswith("enum"):
            values = [f"({kind})99", f"({kind})-1"]
        else:
            values = INTEGERS.get(kind)
        if values is None:
            sys.exit(f"{function[0]}: no bad values for {kind} {name}")
        return [(f"{target} = {v}", f"{target} = {v};", "SAFE") for v in values]

    def element(self, function, struct, kind, name, null):
        """An array of one: one bad member after another."""
        key = f"{function[0]}.{name}"
        self.used.add(key)
        local = local_name(name)
        declared = [f"struct {struct} {local}_ = {GOOD.get(key, ELEMENTS[struct])};", f"{kind}{local} = &{local}_;"]
        variants = list(null)
        for member_kind, member in self.headers.structs[struct]:
            target = f"{local}_.{member}"
            if is_pointer(member_kind):
                variants.append((f"{target} = NULL", f"{target} = NULL;", "REFUSED"))
            else:
                variants += self.numbers(function, member_kind, member, target)
        return declared, variants, None

    def options(self, function, struct, kind, name, null):
        """A struct of the caller's: bad sizes, and one bad member after another."""
        members = self.headers.structs[struct]
        local = local_name(name)
        box = f"{local}_"
        declared = [
            f"struct {{ struct {struct} at; unsigned char tail[16]; }} {box} = {{.at = {{.size = sizeof {box}.at}}}};",
            f"{kind}{local} = &{box}.at;",
        ]
        size = f"{box}.at.size"
        wrong = self.refused(function)
        variants = null + [(f"{size} = {v}", f"{size} = {v};", wrong) for v in ("0", "1", "SIZE_MAX")]
        output = not kind.startswith("const")  # theirs to fill: the size has to be known
        if not output:
            variants += [
                (f"{name} of a newer version", f"{size} = sizeof {box};", "FINE"),
                (f"{name} with what is not known", f"{size} = sizeof {box}; {box}.tail[3] = 1;", wrong),
            ]
            for member_kind, member in members[1:]:
                target = f"{box}.at.{member}"
                if member_kind == "function *" or is_pointer(member_kind):
                    continue
                variants += self.numbers(function, member_kind, member, target)
            for count in [m for _, m in members if m in COUNTS and m != "count"]:
                variants.append((f"{count} without a list", f"{box}.at.{count} = 3;", wrong))
        return declared, variants, None

    def write(self, function):
        name, result, params = function
        declared, variants, frees = [], [("good", "", "BASE")], []
        for kind, param in params:
            lines, bad, free = self.argument(function, kind, param)
            declared += lines
            variants += bad
            frees += [free] if free else []
        out = [f"static bool call_{name}(int variant, struct call *call)", "{"]
        out += [f"    {line}" for line in declared]
        out += ["    switch (variant) {"]
        for i, (what, change, wants) in enumerate(variants):
            text = what.replace('"', "'")
            out.append(f'    case {i}: begin(call, "{text}", {wants}); {change} break;')
        out += ["    default: return false;", "    }"]
        if re.search(r"_(free|close)$", name):
            out.append(f"    world_lost({local_name(params[0][1])});")
        call = f"{name}({', '.join(local_name(param) for _, param in params)})"
        failing = self.refused(function) == "REFUSED"
        if result == "void" or not failing:
            out.append(f"    {'' if result == 'void' else '(void)'}{call};")
        elif result == "int":
            out.append(f"    call->failed = {call} != 0;")
        elif result.endswith("*"):
            out.append(f"    call->failed = {call} == NULL;")
        else:
            out.append(f"    (void){call};")
        out += [f"    {free}" for free in frees]
        return out + ["    return true;", "}", ""]


def main():
    headers = Headers()
    writer = Writer(headers)
    out = ["/* Made by tests/misuse.py. */", ""]
    for function in headers.functions:
        out += writer.write(function)
    out += ["static const struct function_row functions[] = {"]
    out += [f'    {{"{name}", call_{name}}},' for name, _, _ in headers.functions]
    out += ["};", ""]
    fine = {f"{f}:{p}" for f, row in NULL_IS_FINE.items() if f for p in row.split()}
    if unused := (set(GOOD) | fine) - writer.used:
        sys.exit("tests/misuse.py: no header has " + ", ".join(sorted(unused)))
    Path(sys.argv[1]).write_text("\n".join(out))


main()
