"""The rows of src/ir/opinfo_*.h beside the schemas of the onnx package.

Arity, opsets and attributes of each operator have to agree for every opset from 7 up, so
that a new release of onnx shows what is missing. ONNX Runtime's own operators are
compared where its package tells their schemas.
"""

import subprocess
import sys
from collections import defaultdict

import onnx.defs

from dump import tool

OPSET_MIN = 7
MANY = 2**31 - 1
OPTIONAL = onnx.defs.OpSchema.FormalParameterOption.Optional
# ONNX Runtime puts it into ONNX's domain.
NOT_IN_ONNX = {("", "SimplifiedLayerNormalization")}
# Deprecated in the version in which it was introduced, yet runtimes take it.
KEPT = {("", "GroupNormalization")}


def rows():
    """{(domain, name): row} from the test tool, attributes as (name, type, required, range)."""
    run = subprocess.run([tool("opinfo_dump")], text=True, capture_output=True,
                         check=True)
    found = {}
    for line in run.stdout.splitlines():
        kind, *parts = line.split("\t")
        if kind == "OP":
            domain, name, *numbers = parts
            since, until, *arity, may_lack = map(int, numbers)
            row = {"since": since, "until": until, "arity": arity, "attrs": [],
                   "may_lack": [i for i in range(32) if may_lack >> i & 1]}
            found[domain, name] = row
        elif kind == "A":
            name, kind, required, since, until = parts
            row["attrs"].append((name, kind, required == "1", int(since), int(until)))
    return found


def attributes(row, opset):
    return {name: (kind, required) for name, kind, required, since, until in row["attrs"]
            if since <= opset and (not until or opset <= until)}


def histories():
    """{(domain, name): schemas that are in use in opset 7 or later, oldest first}"""
    found = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        found[schema.domain, schema.name].append(schema)
    for key, schemas in found.items():
        schemas.sort(key=lambda schema: schema.since_version)
        least = OPSET_MIN if key[0] == "" else 1
        found[key] = [s for i, s in enumerate(schemas)
                      if i + 1 == len(schemas) or schemas[i + 1].since_version > least]
    return found


def compare_arity(row, schemas):
    live = [s for s in schemas if not s.deprecated] or schemas
    ends = [min(s.min_input for s in live), max(s.max_input for s in live),
            min(s.min_output for s in live), max(s.max_output for s in live)]
    ends = [-1 if end >= MANY else end for end in ends]
    if row["arity"] != ends:
        yield f"arity {row['arity']}, the schemas have {ends}"
    may_lack = sorted({i for s in live for i, port in enumerate(s.inputs)
                       if i < ends[0] and port.option == OPTIONAL})
    if row["may_lack"] != may_lack:
        yield f"inputs {row['may_lack']} may be left out, the schemas say {may_lack}"


def compare_opsets(key, row, schemas):
    first = min(s.since_version for s in onnx.defs.get_all_schemas_with_history()
                if (s.domain, s.name) == key)
    gone = [s.since_version for s in schemas if s.deprecated]
    until = gone[0] - 1 if gone and key not in KEPT else 0
    if (row["since"], row["until"]) != (first, until):
        yield f"opsets {row['since']} to {row['until']}, the schemas have {first} to {until}"


def compare_attributes(row, schemas):
    for schema in schemas:
        if schema.deprecated:
            continue
        theirs = {a.name: (str(a.type).split(".")[-1], a.required)
                  for a in schema.attributes.values()}
        mine = attributes(row, max(schema.since_version, 1))
        for name in sorted(set(theirs) | set(mine)):
            if theirs.get(name) != mine.get(name):
                yield (f"version {schema.since_version}: attribute {name} is {mine.get(name)}, "
                       f"the schema has {theirs.get(name)}")


def check_onnx(found):
    problems = []
    for key, schemas in sorted(histories().items()):
        row = found.get(key)
        if row is None:
            problems.append(f"{key}: no row")
            continue
        for part in (compare_arity(row, schemas), compare_opsets(key, row, schemas),
                     compare_attributes(row, schemas)):
            problems += [f"{key}: {text}" for text in part]
    known = {domain for domain, _ in histories()}
    for key in sorted(set(found) - set(histories()) - NOT_IN_ONNX):
        if key[0] in known:
            problems.append(f"{key}: no schema")
    return problems


def check_runtime(found):
    try:
        from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema
    except ImportError:
        print("this onnxruntime does not tell its schemas: not compared")
        return []
    problems, seen = [], set()
    for schema in get_all_operator_schema():
        if schema.domain != "com.microsoft":
            continue
        key = (schema.domain, schema.name)
        seen.add(key)
        if key not in found:
            problems.append(f"{key}: no row")
            continue
        problems += [f"{key}: {text}" for text in compare_arity(found[key], [schema])]
        problems += [f"{key}: {text}" for text in compare_attributes(found[key], [schema])]
    problems += [f"{key}: no schema" for key in sorted(set(found) - seen)
                 if key[0] == "com.microsoft"]
    return problems


def main():
    found = rows()
    checks = [check_onnx(found), check_runtime(found)]
    for problem in checks[0] + checks[1]:
        print(problem)
    passed = sum(not problems for problems in checks)
    print(f"{passed} passed, {len(checks) - passed} failed")
    return passed != len(checks)


if __name__ == "__main__":
    sys.exit(main())
