/* Parses JSON text strictly and reports the line and column of errors. */
#include "base/doc_build.h"
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

struct reader {
    struct by_doc_builder builder;
    const char *at, *end;
    const char *marked; /* up to here line and column are counted */
    struct by_doc_mark mark;
    struct by_str text; /* of the string being read */
};

/* Line and column of reader->at. It only moves on, so every byte is counted once. */
static struct by_doc_mark here(struct reader *reader)
{
    for (; reader->marked < reader->at; reader->marked++) {
        if (*reader->marked == '\n') {
            reader->mark.line++;
            reader->mark.column = 1;
        } else if (((uint8_t)*reader->marked & 0xc0) != 0x80) {
            reader->mark.column++;
        }
    }
    return reader->mark;
}

static int fail_here(struct reader *reader, const char *what, struct baryon_error *err)
{
    return by_doc_fail(&reader->builder, here(reader), err, "not valid JSON: %s", what);
}

static int fail_expected(struct reader *reader, const char *wanted, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    uint32_t code;
    if (reader->at == reader->end)
        return by_doc_fail(&reader->builder, here(reader), err,
                           "not valid JSON: the text ends, expected %s", wanted);
    size_t length =
        by_utf8_next((const uint8_t *)reader->at, (size_t)(reader->end - reader->at), &code);
    return by_doc_fail(&reader->builder, here(reader), err, "not valid JSON: %s, expected %s",
                       by_quote_bytes(quoted, reader->at, length), wanted);
}

/* What comes after blanks, '\0' at the end (the text itself has no NUL). */
static char peek(struct reader *reader)
{
    while (reader->at < reader->end && strchr(" \t\r\n", *reader->at))
        reader->at++;
    return reader->at < reader->end ? *reader->at : '\0';
}

static bool read_hex(struct reader *reader, uint32_t *code)
{
    *code = 0;
    if (reader->end - reader->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *reader->at++, low = (char)(c | 0x20);
        if (c >= '0' && c <= '9')
            *code = *code << 4 | (uint32_t)(c - '0');
        else if (low >= 'a' && low <= 'f')
            *code = *code << 4 | (uint32_t)(low - 'a' + 10);
        else
            return false;
    }
    return true;
}

/* After "\u"; characters beyond 16 bits come as two such escapes. */
static int read_unicode(struct reader *reader, struct baryon_error *err)
{
    uint32_t code, second;
    if (!read_hex(reader, &code))
        return fail_here(reader, "\\u requires four hexadecimal digits", err);
    if (code >= 0xd800 && code < 0xdc00) {
        bool pair = reader->end - reader->at >= 6 && reader->at[0] == '\\' && reader->at[1] == 'u';
        reader->at += pair ? 2 : 0;
        if (!pair || !read_hex(reader, &second) || second < 0xdc00 || second > 0xdfff)
            return fail_here(reader, "an incomplete surrogate pair", err);
        code = 0x10000 + ((code - 0xd800) << 10) + (second - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return fail_here(reader, "an incomplete surrogate pair", err);
    }
    char bytes[4] = {0};
    size_t size = by_utf8_put(bytes, code);
    by_str_add(&reader->text, bytes, size);
    return 0;
}

static int read_escape(struct reader *reader, struct baryon_error *err)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (reader->at == reader->end)
        return fail_expected(reader, "an escape", err);
    if (*reader->at == 'u') {
        reader->at++;
        return read_unicode(reader, err);
    }
    const char *found = strchr(from, *reader->at);
    if (!found)
        return fail_expected(reader, "an escape", err);
    by_str_add(&reader->text, &to[found - from], 1);
    reader->at++;
    return 0;
}

/* The opening quote is at reader->at; the text goes to reader->text. */
static int read_string(struct reader *reader, struct baryon_error *err)
{
    by_str_clear(&reader->text);
    reader->at++;
    for (;;) {
        const char *run = reader->at;
        while (reader->at < reader->end && *reader->at != '"' && *reader->at != '\\' &&
               (uint8_t)*reader->at >= 0x20)
            reader->at++;
        by_str_add(&reader->text, run, (size_t)(reader->at - run));
        if (reader->at == reader->end)
            return fail_expected(reader, "the closing '\"'", err);
        if ((uint8_t)*reader->at < 0x20)
            return fail_here(reader, "a control character in a string", err);
        if (*reader->at++ == '"')
            return by_str_error(&reader->text, err);
        if (read_escape(reader, err))
            return -1;
    }
}

static bool is_digit(const struct reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static bool skip_digits(struct reader *reader)
{
    if (!is_digit(reader))
        return false;
    while (is_digit(reader))
        reader->at++;
    return true;
}

static bool skip(struct reader *reader, const char *any)
{
    if (reader->at == reader->end || !strchr(any, *reader->at))
        return false;
    reader->at++;
    return true;
}

/* -? (0 | 1-9 digits) (. digits)? ([eE] [+-]? digits)? */
static int read_number(struct reader *reader, struct baryon_error *err)
{
    struct by_doc_mark mark = here(reader);
    const char *start = reader->at;
    skip(reader, "-");
    const char *digits = reader->at;
    if (!skip_digits(reader))
        return fail_expected(reader, "a digit", err);
    if (*digits == '0' && reader->at - digits > 1)
        return fail_here(reader, "a number that begins with 0", err);
    if (skip(reader, ".") && !skip_digits(reader))
        return fail_expected(reader, "a digit", err);
    if (skip(reader, "eE")) {
        skip(reader, "+-");
        if (!skip_digits(reader))
            return fail_expected(reader, "a digit", err);
    }
    return by_doc_scalar(&reader->builder, BY_DOC_SCALAR, start, (size_t)(reader->at - start),
                         false, mark, err);
}

static int read_word(struct reader *reader, struct baryon_error *err)
{
    static const char *const words[] = {"null", "true", "false"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, words[i], size) != 0)
            continue;
        struct by_doc_mark mark = here(reader);
        reader->at += size;
        return by_doc_scalar(&reader->builder, i == 0 ? BY_DOC_NULL : BY_DOC_SCALAR, words[i], size,
                             false, mark, err);
    }
    return fail_expected(reader, "a value", err);
}

static int read_value(struct reader *reader, struct baryon_error *err);

static int read_list(struct reader *reader, struct baryon_error *err)
{
    if (by_doc_open(&reader->builder, BY_DOC_LIST, here(reader), err))
        return -1;
    reader->at++;
    if (peek(reader) != ']')
        for (;;) {
            if (read_value(reader, err))
                return -1;
            if (peek(reader) == ']')
                break;
            if (!skip(reader, ","))
                return fail_expected(reader, "',' or ']'", err);
        }
    reader->at++;
    by_doc_close(&reader->builder);
    return 0;
}

static int read_text(struct reader *reader, struct baryon_error *err)
{
    struct by_doc_mark mark = here(reader);
    if (read_string(reader, err))
        return -1;
    return by_doc_scalar(&reader->builder, BY_DOC_SCALAR, by_str_text(&reader->text),
                         reader->text.size, true, mark, err);
}

static int read_map(struct reader *reader, struct baryon_error *err)
{
    if (by_doc_open(&reader->builder, BY_DOC_MAP, here(reader), err))
        return -1;
    reader->at++;
    if (peek(reader) != '}')
        for (;;) {
            if (peek(reader) != '"')
                return fail_expected(reader, "a key in quotes", err);
            if (read_text(reader, err))
                return -1;
            if (peek(reader) != ':')
                return fail_expected(reader, "':'", err);
            reader->at++;
            if (read_value(reader, err))
                return -1;
            if (peek(reader) == '}')
                break;
            if (!skip(reader, ","))
                return fail_expected(reader, "',' or '}'", err);
        }
    reader->at++;
    by_doc_close(&reader->builder);
    return 0;
}

/* Recursion ends at BY_DOC_DEPTH_MAX, in by_doc_open(). */
static int read_value(struct reader *reader, struct baryon_error *err)
{
    switch (peek(reader)) {
    case '{':
        return read_map(reader, err);
    case '[':
        return read_list(reader, err);
    case '"':
        return read_text(reader, err);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        return read_number(reader, err);
    default:
        return read_word(reader, err);
    }
}

static int read_all(struct reader *reader, struct baryon_error *err)
{
    if (!peek(reader))
        return by_doc_scalar(&reader->builder, BY_DOC_NULL, "", 0, false, here(reader), err);
    if (read_value(reader, err))
        return -1;
    return peek(reader) ? fail_expected(reader, "the end of the text", err) : 0;
}

int by_json_parse(struct by_arena *arena, const char *text, size_t size, const char *path,
                  struct by_doc_node **root, struct baryon_error *err)
{
    struct by_doc_limits limits = {BY_DOC_BYTES_MAX, BY_DOC_NODES_MAX};
    return by_json_parse_within(arena, text, size, path, limits, root, err);
}

int by_json_parse_within(struct by_arena *arena, const char *text, size_t size, const char *path,
                         struct by_doc_limits limits, struct by_doc_node **root,
                         struct baryon_error *err)
{
    struct reader reader = {.at = text, .end = text + size, .marked = text, .mark = {1, 1}};
    by_doc_builder_init(&reader.builder, arena, path);
    reader.builder.limits = limits;
    if (by_doc_check_text(&reader.builder, text, size, err))
        return -1;
    if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
        reader.marked = reader.at += 3;
    int status = read_all(&reader, err);
    by_str_release(&reader.text);
    by_doc_builder_release(&reader.builder);
    if (status)
        return by_err_file(err, path);
    *root = reader.builder.root;
    return 0;
}
