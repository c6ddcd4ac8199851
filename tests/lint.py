#!/usr/bin/env python3
"""Rules that the text of the project keeps; each is one function and one row.

    lint.py            all rules
    lint.py NAME...    those rules
"""

import functools
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

FILE_LINES = 800
FUNCTION_LINES = 120
MEDIAN_FILE = 250
MEDIAN_FUNCTION = 15
SAME_STATICS = 4
TOUR_BYTES = 8192

# What each folder of src/ includes besides its own files; rows only name rows above them, and name
# nothing that is not used.
LAYERS = {
    "base": "",
    "array": "base",
    "dtype": "base array",
    "moments": "base array",
    "solve": "base moments",
    "reconstruct": "base solve",
    "llm/ggml": "base",
    "llm/gguf_solve": "base solve llm/ggml",
    "llm/store": "base array llm/ggml",
    "llm/family": "base",
    "llm/text": "base llm/family",
    "llm/scheme": "base array dtype",
    "llm/layout": "base array dtype solve llm/ggml llm/store llm/family llm/scheme",
    "llm/decoder": "base solve llm/family llm/layout llm/scheme",
    "llm/solve": "base array solve llm/ggml llm/gguf_solve llm/scheme",
    "report/html": "base",
    "llm": "base array report/html solve llm/store llm/ggml llm/family llm/scheme llm/layout llm/text llm/decoder llm/solve",
    "llm/auto": "base solve llm/gguf_solve llm/layout llm",
    "ir": "base array",
    "onnx": "base ir",
    "llm/export": "base array ir onnx llm llm/decoder",
    "engine": "base array dtype ir onnx",
    "input": "base array ir engine",
    "stats": "base array ir onnx moments",
    "pass": "base ir onnx engine",
    "ops": "base ir dtype engine",
    "calib": "base ir stats",
    "quant": "base ir onnx dtype stats pass calib",
    "adjust": "base solve ir stats pass quant",
    "metric": "base",
    "preset": "base",
    "config": "base quant",
    "calibrate": "base ir onnx engine input stats calib",
    "trial": "base array ir onnx engine input pass quant adjust reconstruct calibrate",
    "convert": "base ir onnx pass quant adjust config calibrate",
    "rounding": "base ir onnx engine stats moments quant adjust solve reconstruct trial",
    "quantize": "base ir pass quant trial convert rounding",
    "sensitivity": "base ir engine stats quant trial quantize",
    "evaluate": "base array ir engine onnx input metric config calibrate trial",
    "compare": "base ir dtype quant evaluate",
    "quality": "base ir onnx metric preset quant calibrate trial sensitivity evaluate",
    "settings": "base ir engine input calib llm llm/auto llm/export config calibrate evaluate",
    "settings/quark": "base calib preset config settings",
    "settings/recipe": "base ir pass quant preset config calibrate quality settings settings/quark",
    "report": "base array ir input stats quant metric trial sensitivity evaluate quality settings/recipe",
    "search": "base ir onnx engine input dtype stats pass calib quant preset config calibrate trial"
    " quantize evaluate settings settings/recipe",
    "api": "base array ir onnx dtype engine input stats pass calib quant metric preset config calibrate"
    " llm llm/layout llm/scheme llm/solve convert rounding quantize report/html quality compare settings settings/recipe search",
}

# Calls nobody makes, and calls that only some files make: the library neither
# prints nor ends the process, and memory and files go through base.
BANNED = {
    "strcpy": "snprintf", "strcat": "by_str_puts", "strncpy": "memcpy", "strncat": "by_str_add",
    "stpcpy": "snprintf", "sprintf": "snprintf", "vsprintf": "vsnprintf", "gets": "fgets",
    "atoi": "by_parse_i64", "atol": "by_parse_i64", "atoll": "by_parse_i64",
    "atof": "by_parse_double", "strtok": "strcspn", "sscanf": "by_parse_i64", "alloca": "by_alloc",
    "tmpnam": "by_writer", "mktemp": "by_writer",
    "rand": "by_rng_bits", "srand": "by_rng_bits", "asctime": "strftime", "strerror": "strerror_r",
}  # fmt: skip
ONLY_IN = [
    (r"malloc|calloc|realloc|reallocarray|strdup|strndup", r"src/", r"src/base/mem\.c"),
    (r"printf|puts|putchar|vprintf|perror|exit|_exit|abort|signal|sigaction", r"src/", None),
    (r"open|openat|fopen|mmap|rename|unlink", r"src/", r"src/base/\w+\.c"),
    (r"system|popen|exec\w+|v?fork", r"src/|cli/", None),
    (r"dlopen", r"src/", r"src/(engine/\w+|base/blas)\.c"),
    (r"setlocale|setenv|putenv", r"src/|cli/", None),
]
EXCEPTIONS = {
    ("src/base/fault.c", "_exit"): "a test asks for the end of the process",
    ("src/base/blas.c", "setenv"): "nothing else tells OpenBLAS which kernels to take",
    ("cli/main.c", "setenv"): "nothing else keeps OpenBLAS from a thread for each processor",
    ("src/engine/ort.c", "setenv"): "nothing else keeps ONNX Runtime from sending what it does",
}

# Built from parts, so that this file does not contain what it looks for.
PLACES = "|".join(
    ["/wo" "rk/", "/ro" "ot/", "/ho" "me/", "/tm" "p/bash", "/o" "pt/", r"\bfiles\.python" "hosted",
     r"py" r"pi\.org", r"deb\.deb" r"ian", r"https?://[^/ ]*mir" "ror"]
)  # fmt: skip
LEFTOVERS = "|".join(
    [r"\bTO" r"DO\b", r"\bFIX" r"ME\b", r"\bXX" r"X\b", r"\bHA" r"CK\b", r"(?m:^(?:[<>]{7} .*|={7})$)"]
)


def tracked(*suffixes):
    done = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    paths = (Path(line) for line in done.stdout.splitlines())
    return [path for path in paths if path.is_file() and (path.suffix in suffixes or not suffixes)]


@functools.cache
def content_of(path):
    return path.read_text()


@functools.cache
def code_of(path):
    """The text of a C file with comments and the inside of literals blanked, lines kept."""

    def blank(match):
        text = match[0]
        if text.startswith("/"):
            return re.sub(r"[^\n]", " ", text)
        return text[0] + "_" * (len(text) - 2) + text[-1]

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, content_of(path), flags=re.S)


def numbered(text):
    return enumerate(text.split("\n"), 1)


def found(pattern, text):
    """Where the pattern is: (line, match)."""
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match


def folder_of(path):
    """src/settings/quark/alias.c is in settings/quark."""
    return "/".join(path.parts[1:-1])


def layer_rows():
    """Folders and what they may include, checked: arrows point to rows above."""
    seen = set()
    for folder, row in LAYERS.items():
        if forward := set(row.split()) - seen:
            yield f"tests/lint.py: {folder} includes {', '.join(sorted(forward))}, which is not above it"
        seen.add(folder)


def layers():
    """Include arrows only point to layers below, and rows of layers allow what is used."""
    yield from layer_rows()
    used = {folder: set() for folder in LAYERS}
    for path in tracked(".c", ".h"):
        top = path.parts[0]
        if top not in ("src", "include"):
            continue
        folder = folder_of(path)
        if folder.startswith("port/"):
            continue
        if top == "src" and folder not in LAYERS:
            yield f"{path}: the folder src/{folder} is not in the list of layers"
            continue
        for line, match in found(r'(?m)^#include "([^"\n]+)"', content_of(path)):
            target = match[1].rpartition("/")[0]
            if match[1] == "baryon.h" or target == folder:
                continue
            if top == "include" and not (path.parent / match[1]).exists():
                yield f"{path}:{line}: the public header includes {match[1]}"
            elif top == "src" and target not in LAYERS[folder].split():
                yield f"{path}:{line}: {folder} includes {match[1]}"
            elif top == "src":
                used[folder].add(target)
    for folder, row in LAYERS.items():
        if unused := set(row.split()) - used[folder]:
            yield f"tests/lint.py: {folder} does not include {', '.join(sorted(unused))}: its row may shrink"


def systems():
    """What differs between systems is in src/port, not between #ifdef and #endif."""
    for path in tracked(".c", ".h"):
        if path.parts[0] in ("src", "cli") and path.parts[:2] != ("src", "port"):
            for line, match in found(r"(?m)^#\s*(?:if|ifdef|ifndef|elif)\b.*?\b(_WIN32|_WIN64|__MINGW\w*|__APPLE__)\b", content_of(path)):
                yield f"{path}:{line}: {match[1]}: what a system has differently belongs into src/port"


def homes():
    """What a header of src/ declares is defined in the same folder."""
    defined = {}
    for path in tracked(".c"):
        if path.parts[0] == "src" and path.parts[1] != "port":
            for _, match in found(r"(?m)^(?!static)[a-z][^\n;={}()]*?\b(by_\w+)\([^;{}]*\)\n\{", code_of(path)):
                defined.setdefault(match[1], folder_of(path))
    for path in tracked(".h"):
        if path.parts[0] != "src":
            continue
        for line, match in found(r"(?m)^(?!static|typedef|#)[a-z][^\n;={}()]*?\b(by_\w+)\(", code_of(path)):
            home = defined.get(match[1])
            if home and home != folder_of(path):
                yield f"{path}:{line}: {match[1]}() is defined in {home}"


def tags():
    """A shared struct, enum or union has a tag of its own."""
    places = {}
    for path in tracked(".c", ".h"):
        if path.parts[0] not in ("src", "cli"):
            continue
        for line, match in found(r"(?m)^(?:static |const )*(?:struct|enum|union) (by_\w+)\s*\{", code_of(path)):
            places.setdefault(match[1], []).append(f"{path}:{line}")
    for tag, where in places.items():
        if len(where) > 1:
            yield f"{where[0]}: {tag} is something else in {', '.join(where[1:])}"


def names():
    """A static function's name is defined in at most 4 files of src/ and cli/."""
    attributes = r"(?:[A-Z]\w*(?:\([^)\n]*\))? +|__attribute__\(\(.*?\)\) +)*"
    head = re.compile(r"(?m)^" + attributes + r"static\b[^;={}]*?\b([a-z_]\w*)\([^;{}]*\)\s*\{")
    files = {}
    for path in tracked(".c", ".h"):
        if path.parts[0] in ("src", "cli"):
            for _, match in found(head, code_of(path)):
                files.setdefault(match[1], set()).add(str(path))
    for name, paths in files.items():
        if len(paths) > SAME_STATICS:
            yield f"{name}() is defined in {len(paths)} files: {', '.join(sorted(paths))}"


def calls():
    """Banned functions, and functions that only certain files call."""
    words = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
    for path in tracked(".c", ".h"):
        if path.parts[0] == "tests" or path.parts[:2] == ("src", "port"):
            continue
        code = code_of(path)
        for line, match in found(words, code):
            yield f"{path}:{line}: {match[1]}() is banned, use {BANNED[match[1]]}"
        for names, where, allowed in ONLY_IN:
            if not re.match(where, str(path)) or allowed and re.fullmatch(allowed, str(path)):
                continue
            only = re.compile(rf"(?<![\w.>])({names})\s*\(")
            for line, match in found(only, code):
                if (str(path), match[1]) not in EXCEPTIONS:
                    yield f"{path}:{line}: {match[1]}() is not called here"


def functions(path):
    """(name, first line, lines of the body) of each function of a formatted C file."""
    start = None
    lines = code_of(path).split("\n")
    for index, line in enumerate(lines):
        if line == "{":
            start = index
        elif line == "}" and start is not None:
            head = start - 1
            while head > 0 and lines[head - 1].strip() and not lines[head - 1].endswith((";", "}")):
                head -= 1
            name = re.search(r"(\w+)\(", " ".join(lines[head:start]))
            yield name[1] if name else "?", head + 1, index - start - 1
            start = None


def sizes():
    """Files and functions are small."""
    files, bodies = [], []
    for path in tracked(".c", ".h", ".py", ".sh"):
        count = len(content_of(path).splitlines())
        if count > FILE_LINES:
            yield f"{path}: {count} lines, at most {FILE_LINES}"
        if path.suffix == ".c" and path.parts[0] in ("src", "cli"):
            files.append(count)
            for name, line, body in functions(path):
                bodies.append(body)
                if body > FUNCTION_LINES:
                    yield f"{path}:{line}: {name} has {body} lines, at most {FUNCTION_LINES}"
    if len(bodies) < 2:
        return
    file, function = statistics.median(files), statistics.median(bodies)
    tenth = statistics.quantiles(bodies, n=10)[-1]
    print(
        f"    {len(files)} files, median {file:.0f} lines; {len(bodies)} functions,"
        f" median {function:.0f}, 90% at most {tenth:.0f}, longest {max(bodies)}"
    )
    if file > MEDIAN_FILE or function > MEDIAN_FUNCTION:
        yield f"median file {file}, at most {MEDIAN_FILE}; function {function}, at most {MEDIAN_FUNCTION}"


def places():
    """Nothing names a machine, a person's folder or a host that packages come from."""
    for path in tracked():
        try:
            text = content_of(path)
        except UnicodeDecodeError:
            continue
        for line, match in found(PLACES, text):
            yield f"{path}:{line}: {match[0]}"


def purpose():
    """Every source file begins with a comment that says what it is for."""
    begins = {".c": r"/\*\W*\w", ".h": r"/\*\W*\w", ".py": r'(?:r?"""|#)\W*\w', ".sh": r"#\W*\w"}
    for path in tracked(*begins):
        content = re.sub(r"\A#!.*\n", "", content_of(path))
        if content and not re.match(begins[path.suffix], content):
            yield f"{path}: does not begin with a comment that says what it is for"


def leftovers():
    """No work is left as a note in the code, and no half of a merge."""
    for path in tracked(".c", ".h", ".py", ".sh", ".mk", ".md"):
        for line, match in found(LEFTOVERS, content_of(path)):
            yield f"{path}:{line}: {match[0]}"


def text():
    """Lines have no blanks at their end, files end with one newline, names are plain."""
    for path in tracked(".c", ".h", ".py", ".sh", ".mk", ".md", ".txt", ".in", ".map"):
        content = content_of(path)
        if content and (not content.endswith("\n") or content.endswith("\n\n")):
            yield f"{path}: does not end with one newline"
        for line, row in numbered(content):
            if row != row.rstrip() or "\t" in row and path.suffix in (".c", ".h", ".py"):
                yield f"{path}:{line}: blanks at the end, or a tab"


def headers():
    """Every header has its guard and can be included alone."""
    for path in tracked(".h"):
        if path.parts[0] not in ("src", "cli", "include"):
            continue
        content = content_of(path)
        if not re.search(r"^#ifndef (\w+)\n#define \1$", content, re.M):
            defined = set(re.findall(r"^#define (\w+)", content, re.M))
            defined -= set(re.findall(r"^#undef (\w+)", content, re.M))
            if not defined and "include" not in path.parts:
                continue  # rows of a table, included in the middle of a file
            yield f"{path}: has no include guard"


def form():
    """clang-format has nothing to change."""
    program = os.environ.get("CLANG_FORMAT", "build/venv/bin/clang-format")
    paths = [str(path) for path in tracked(".c", ".h")]
    done = subprocess.run(
        [program, "--dry-run", "-Werror", *paths],
        stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    seen = set()
    for match in re.finditer(r"^([^:\n]+):(\d+):\d+: error", done.stderr, re.M):
        if match[1] not in seen:
            seen.add(match[1])
            yield f"{match[1]}:{match[2]}: not formatted: make format"
    if done.returncode and not seen:
        yield done.stderr.strip()


def scripts():
    """Shell and Python files have no syntax error, and can be run when they say so."""
    for path in tracked(".sh", ".py"):
        first = content_of(path).split("\n", 1)[0]
        if first.startswith("#!") != os.access(path, os.X_OK):
            yield f"{path}: either '#!' and executable, or neither"
        if path.suffix == ".py":
            try:
                compile(content_of(path), str(path), "exec")
            except SyntaxError as error:
                yield f"{path}:{error.lineno}: {error.msg}"
        elif subprocess.run(["bash", "-n", str(path)], check=False).returncode:
            yield f"{path}: bash finds an error"


def anchors_of(path):
    """What links may follow '#' by: headings as GitHub writes them, without code blocks."""
    seen = {}
    for _, match in found(r"(?m)^#+ +(.*)$", re.sub(r"(?ms)^```.*?^```$", "", content_of(path))):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", match[1]).lower()
        name = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        count = seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{count}" if count else name


def links():
    """Links from page to page lead to files and headings that exist."""
    for path in tracked(".md"):
        text = re.sub(r"```.*?```|`[^`\n]*`", lambda match: re.sub(r"[^\n]", " ", match[0]), content_of(path), flags=re.S)
        for line, match in found(r"\]\(([^)\s]+)\)", text):
            if re.match(r"\w+:", match[1]):
                continue
            name, _, anchor = match[1].partition("#")
            target = Path(os.path.normpath(path.parent / name)) if name else path
            if not target.exists():
                yield f"{path}:{line}: there is no {target}"
            elif anchor and anchor not in anchors_of(target):
                yield f"{path}:{line}: {target} has no heading #{anchor}"


def tour():
    """ARCHITECTURE.md stays a short tour and has a row for each folder of src/."""
    page = Path("ARCHITECTURE.md")
    size = len(content_of(page).encode())
    if size > TOUR_BYTES:
        yield f"{page}: {size} bytes, at most {TOUR_BYTES}: details belong to docs/design"
    rows = {name for _, row in found(r"(?m)^\| (`.*?`) \|", content_of(page)) for name in re.findall(r"`(.*?)`", row[1])}
    for folder in sorted(LAYERS.keys() - rows):
        yield f"{page}: the table of folders has no {folder}"


RULES = [
    layers, systems, homes, tags, names, calls, sizes, places, purpose, leftovers, text, headers, form, scripts, links, tour,
]  # fmt: skip


def main():
    wanted = sys.argv[1:]
    known = {rule.__name__: rule for rule in RULES}
    if unknown := set(wanted) - set(known):
        sys.exit(f"lint: no rule {', '.join(unknown)}; there are {', '.join(known)}")
    failed = 0
    chosen = [known[name] for name in wanted] or RULES
    for rule in chosen:
        problems = list(rule())
        print(f"{'FAILED' if problems else 'ok'} {rule.__name__}: {rule.__doc__}")
        for problem in problems:
            print(f"    {problem}")
        failed += bool(problems)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
