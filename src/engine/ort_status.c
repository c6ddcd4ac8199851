/* Turns the errors of ONNX Runtime into ours. */
#include "base/utf8.h"
#include "engine/ort.h"

#include <string.h>

/* A place in its source: "/build/onnxruntime/core/x.cc:12", then usually a signature. */
static size_t source_place(const char *text)
{
    static const char *const suffixes[] = {".cc:", ".h:", ".cpp:", ".hpp:", ".cu:", ".cuh:"};
    size_t length = strchr("([", text[0]) ? 0 : strcspn(text, " \t\r\n");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const char *found = memmem(text, length, suffixes[i], strlen(suffixes[i]));
        size_t digits = found ? strspn(found + strlen(suffixes[i]), "0123456789") : 0;
        if (digits)
            return (size_t)(found - text) + strlen(suffixes[i]) + digits;
    }
    return 0;
}

/* Length up to the bracket that closes the one at text[0]; 0 when none does. */
static size_t bracketed(const char *text)
{
    size_t depth = 0;
    for (size_t i = 0; text[i]; i++) {
        depth += text[i] == '(' || text[i] == '[';
        if ((text[i] == ')' || text[i] == ']') && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* After a place, its length: "Status onnxruntime::F::g(int) const [with T = float] "; of another
 * compiler, " onnxruntime::F::g ". */
static size_t signature(const char *text)
{
    const size_t name = strspn(text, " "), length_of_name = strcspn(text + name, " (");
    if (!strncmp(text + name, "onnxruntime::", 13) && text[name + length_of_name] == ' ')
        return name + length_of_name;
    const char *scope = strstr(text, "onnxruntime::"), *open = strchr(text, '(');
    if (!scope || !open || scope > open)
        return 0;
    size_t arguments = bracketed(open);
    if (!arguments)
        return 0;
    size_t length = (size_t)(open - text) + arguments;
    if (strncmp(text + length, " const", 6) == 0)
        length += 6;
    if (strncmp(text + length, " [with ", 7) == 0)
        length += 1 + bracketed(text + length + 1);
    return length;
}

static size_t skipped(const char *text, bool word_start)
{
    size_t length = word_start ? source_place(text) : 0;
    return length ? length + signature(text + length) : 0;
}

/* A text in the making. What does not fit is left out, and "..." stands for it. */
struct line {
    char *at, *end, *safe; /* safe: the last place with room for "..." after it */
    bool blank, cut;
};

static void put_in_line(struct line *line, const char *bytes, size_t size)
{
    size_t need = size + (line->blank ? 1 : 0);
    if (line->end - line->at >= 3)
        line->safe = line->at;
    if (line->cut || need > (size_t)(line->end - line->at)) {
        line->cut = true;
        return;
    }
    if (line->blank)
        *line->at++ = ' ';
    line->blank = false;
    memcpy(line->at, bytes, size);
    line->at += size;
}

static size_t put_character(struct line *line, const char *text)
{
    uint32_t code;
    size_t length = by_utf8_next((const uint8_t *)text, strnlen(text, 4), &code);
    if (!length || code < 0x20 || (code >= 0x7f && code < 0xa0)) {
        put_in_line(line, "?", 1);
        return 1;
    }
    put_in_line(line, text, length);
    return length;
}

const char *by_ort_text(const char *text, char *buf, size_t size)
{
    struct line line = {buf, buf + size - 1, buf, false, false};
    bool word_start = true;
    while (*text && strncmp(text, "Stacktrace:", 11) != 0) {
        size_t skip = skipped(text, word_start);
        if (skip) {
            text += skip;
        } else if (strchr(" \t\r\n", *text)) {
            line.blank = line.at > buf;
            word_start = true;
            text++;
            continue;
        } else {
            word_start = strchr("([", *text) != NULL;
            text += put_character(&line, text);
        }
    }
    memcpy(line.cut ? line.safe : line.at, line.cut ? "..." : "", line.cut ? 4 : 1);
    return buf;
}

static const struct code_row {
    OrtErrorCode ort;
    enum baryon_code code;
} codes[] = {
    {ORT_FAIL, BARYON_ERR_ENGINE},
    {ORT_INVALID_ARGUMENT, BARYON_ERR_ENGINE},
    {ORT_NO_SUCHFILE, BARYON_ERR_INPUT},
    {ORT_NO_MODEL, BARYON_ERR_INPUT},
    {ORT_ENGINE_ERROR, BARYON_ERR_ENGINE},
    {ORT_RUNTIME_EXCEPTION, BARYON_ERR_ENGINE},
    {ORT_INVALID_PROTOBUF, BARYON_ERR_INPUT},
    {ORT_MODEL_LOADED, BARYON_ERR_INTERNAL},
    {ORT_NOT_IMPLEMENTED, BARYON_ERR_UNSUPPORTED},
    {ORT_INVALID_GRAPH, BARYON_ERR_INPUT},
    {ORT_EP_FAIL, BARYON_ERR_ENGINE},
};

/* Things that it reports under a code that says nothing. */
static const struct text_row {
    const char *text;
    enum baryon_code code;
} texts[] = {
    {"is not a registered function/op", BARYON_ERR_UNSUPPORTED},
    {"No Op registered for", BARYON_ERR_UNSUPPORTED},
    {"Failed to allocate memory", BARYON_ERR_NOMEM},
    {"bad_alloc", BARYON_ERR_NOMEM},
    {"pthread_create failed", BARYON_ERR_NOMEM},
};

static enum baryon_code find_code(OrtErrorCode ort, const char *text)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strstr(text, texts[i].text))
            return texts[i].code;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].ort == ort)
            return codes[i].code;
    return BARYON_ERR_ENGINE;
}

/* Without "Load model from PATH failed:", which the caller says in his own words. */
static const char *without_path(const char *text)
{
    const char *failed = strstr(text, " failed:");
    return strncmp(text, "Load model from ", 16) == 0 && failed ? failed + 8 : text;
}

int by_ort_status(const struct by_ort *ort, OrtStatus *status, const char *doing,
                  struct baryon_error *err)
{
    char line[420];
    if (!status)
        return 0;
    const char *text = ort->api->GetErrorMessage(status);
    by_fail(err, find_code(ort->api->GetErrorCode(status), text), "ONNX Runtime cannot %.60s: %s",
            doing, by_ort_text(without_path(text), line, sizeof line));
    ort->api->ReleaseStatus(status);
    return -1;
}
