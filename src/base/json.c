/* Writes JSON with commas, indentation and escapes. */
#include "base/json.h"

#include "base/format.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void by_json_init(struct by_json *json, struct by_str *out, bool compact)
{
    *json = (struct by_json){.out = out, .compact = compact};
}

/* Whether what stands at that depth is on the line of what it is in. */
static bool is_flat(const struct by_json *json, unsigned depth)
{
    return json->compact || (json->flat && depth >= json->flat);
}

static void new_line(struct by_json *json)
{
    by_str_add(json->out, "\n", 1);
    for (unsigned i = 0; i < json->depth; i++)
        by_str_add(json->out, "  ", 2);
}

static void escape(struct by_str *out, uint32_t code)
{
    static const char shorts[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    for (const char *pair = shorts; *pair; pair += 2)
        if ((uint8_t)*pair == code) {
            by_str_add(out, "\\", 1);
            by_str_add(out, pair + 1, 1);
            return;
        }
    by_str_printf(out, "\\u%04" PRIx32, code);
}

/* Bytes that are no UTF-8 become the replacement character: JSON has nothing for them. */
static void quoted(struct by_str *out, const void *text, size_t size)
{
    const uint8_t *bytes = text;
    by_str_add(out, "\"", 1);
    for (size_t i = 0; i < size;) {
        uint32_t code;
        size_t length = by_utf8_next(bytes + i, size - i, &code);
        if (!length)
            escape(out, 0xfffd);
        else if (by_utf8_is_hidden(code) || code == '"' || code == '\\')
            escape(out, code);
        else
            by_str_add(out, bytes + i, length);
        i += length ? length : 1;
    }
    by_str_add(out, "\"", 1);
}

/* What stands before every value: comma, line, key. */
static void begin_json_value(struct by_json *json, const char *key)
{
    if (json->comma)
        by_str_add(json->out, ",", 1);
    if (json->depth && !is_flat(json, json->depth))
        new_line(json);
    if (key) {
        quoted(json->out, key, strlen(key));
        by_str_puts(json->out, is_flat(json, json->depth) ? ":" : ": ");
    }
    json->comma = true;
}

void by_json_open(struct by_json *json, const char *key, char bracket)
{
    begin_json_value(json, key);
    by_str_add(json->out, &bracket, 1);
    json->depth++;
    json->comma = false;
}

void by_json_close(struct by_json *json, char bracket)
{
    json->depth--;
    if (json->comma && !is_flat(json, json->depth + 1))
        new_line(json);
    by_str_add(json->out, &bracket, 1);
    json->comma = true;
}

void by_json_bytes(struct by_json *json, const char *key, const void *text, size_t size)
{
    begin_json_value(json, key);
    quoted(json->out, text, size);
}

void by_json_text(struct by_json *json, const char *key, const char *value)
{
    by_json_bytes(json, key, value, strlen(value));
}

void by_json_int(struct by_json *json, const char *key, int64_t value)
{
    begin_json_value(json, key);
    by_str_printf(json->out, "%" PRId64, value);
}

void by_json_double(struct by_json *json, const char *key, double value)
{
    char text[BY_DOUBLE_MAX];
    begin_json_value(json, key);
    by_str_puts(json->out, isfinite(value) ? by_format_double(text, value) : "null");
}

void by_json_bool(struct by_json *json, const char *key, bool value)
{
    begin_json_value(json, key);
    by_str_puts(json->out, value ? "true" : "false");
}

void by_json_null(struct by_json *json, const char *key)
{
    begin_json_value(json, key);
    by_str_puts(json->out, "null");
}

void by_json_raw(struct by_json *json, const char *key, const char *value)
{
    begin_json_value(json, key);
    by_str_puts(json->out, value);
}
