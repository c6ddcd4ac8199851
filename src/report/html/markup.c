/* Writes texts, JSON and numbers as HTML. */
#include "report/html/markup.h"

#include "base/format.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define NAME_ENDS 40 /* characters that a long name keeps at each end */

#define EQUAL 150.0 /* dB: no difference at all */

static const char unknown[] = "\u2013";

static const char *entity(uint32_t code)
{
    switch (code) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    case '\n':
        return "\n";
    default:
        return NULL;
    }
}

static void put_bytes(struct by_str *html, const char *text, size_t size)
{
    for (size_t i = 0, length; i < size; i += length) {
        uint32_t code;
        length = by_utf8_next((const uint8_t *)text + i, size - i, &code);
        const char *name = length ? entity(code) : "\ufffd";
        if (name)
            by_str_puts(html, name);
        else if (by_utf8_is_hidden(code))
            by_str_printf(html, "\\u%04" PRIx32, code);
        else
            by_str_add(html, text + i, length);
        length = length ? length : 1;
    }
}

void by_html_text(struct by_str *html, const char *text)
{
    put_bytes(html, text, strlen(text));
}

/* A blank between a number and its unit. */
static bool is_before_unit(const char *text)
{
    return text[0] == ' ' && (text[1] == '%' || !strncmp(text + 1, "dB", 2));
}

void by_html_sentence(struct by_str *html, const char *text)
{
    size_t run = 0;
    for (size_t i = 0; text[i]; i++) {
        if (!is_before_unit(text + i))
            continue;
        put_bytes(html, text + run, i - run);
        by_str_puts(html, "\u00a0");
        run = i + 1;
    }
    by_html_text(html, text + run);
}

/* Bytes of the first `count` characters. */
static size_t bytes_of(const char *text, size_t count)
{
    size_t at = 0;
    for (; text[at] && count; count--)
        for (at++; ((uint8_t)text[at] & 0xc0) == 0x80; at++)
            ;
    return at;
}

static void put_name(struct by_str *html, const char *name)
{
    size_t size = strlen(name), characters = 0;
    for (size_t i = 0; i < size; i++)
        characters += ((uint8_t)name[i] & 0xc0) != 0x80;
    if (characters > 2 * NAME_ENDS + 1) {
        size_t last = bytes_of(name, characters - NAME_ENDS);
        put_bytes(html, name, bytes_of(name, NAME_ENDS));
        by_str_puts(html, "\u2026");
        put_bytes(html, name + last, size - last);
    } else
        put_bytes(html, name, size);
    by_str_puts(html, "</bdi>");
}

void by_html_name(struct by_str *html, const char *name)
{
    by_str_puts(html, "<bdi class=\"name\">");
    put_name(html, name);
}

void by_html_plain_name(struct by_str *html, const char *name)
{
    by_str_puts(html, "<bdi>");
    put_name(html, name);
}

static bool needs_escape(uint32_t code)
{
    return code == '<' || code == '>' || code == '&' || code == 0x2028 || code == 0x2029 ||
           code == 0x7f;
}

/* A blank of JSON outside of its strings, which may be left out. */
static bool is_blank(uint32_t code)
{
    return code == ' ' || code == '\n' || code == '\r' || code == '\t' || code == 0xfeff;
}

void by_html_json(struct by_str *html, const char *json, size_t size)
{
    bool inside = false;
    size_t run = 0;
    for (size_t i = 0, length; i < size; i += length) {
        uint32_t code;
        length = by_utf8_next((const uint8_t *)json + i, size - i, &code);
        length = length ? length : 1;
        if (inside && code == '\\') {
            length = 2;
            continue;
        }
        inside ^= code == '"';
        if (!needs_escape(code) && (inside || !is_blank(code)))
            continue;
        by_str_add(html, json + run, i - run);
        if (needs_escape(code))
            by_str_printf(html, "\\u%04" PRIx32, code);
        run = i + length;
    }
    by_str_add(html, json + run, size - run);
}

/* --- Numbers --- */

static void put_number(struct by_str *html, const char *format, double value, const char *unit)
{
    char buf[64];
    by_format(buf, sizeof buf, format, value);
    by_str_printf(html, "%s%s", buf[0] == '-' ? "\u2212" : "", buf + (buf[0] == '-'));
    if (*unit)
        by_str_printf(html, "\u00a0%s", unit);
}

void by_html_decibels(struct by_str *html, double value)
{
    if (isnan(value))
        by_str_puts(html, unknown);
    else if (value >= EQUAL)
        by_str_puts(html, "equal");
    else
        put_number(html, "%.1f", value, "dB");
}

void by_html_decibel_bound(struct by_str *html, double value)
{
    by_html_number(html, value);
    by_str_puts(html, "\u00a0dB");
}

void by_html_share(struct by_str *html, double share)
{
    double percent = 100 * share;
    if (isnan(share))
        by_str_puts(html, unknown);
    else if (percent > 0 && percent < 0.001)
        by_str_puts(html, "&lt;\u00a00.001\u00a0%");
    else if (fabs(percent - round(percent)) < 0.005 || percent >= 99.995)
        put_number(html, "%.0f", percent, "%");
    else
        put_number(html, percent < 10 ? "%.2g" : "%.3g", percent, "%");
}

void by_html_bytes(struct by_str *html, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit < 4; unit++)
        bytes /= 1000;
    if (isnan(bytes))
        by_str_puts(html, unknown);
    else
        put_number(html, unit && bytes < 99.95 ? "%.1f" : "%.0f", bytes, units[unit]);
}

void by_html_count(struct by_str *html, double count)
{
    char buf[32];
    if (!(count >= 0 && count < 9e15))
        by_html_number(html, count);
    else
        by_str_puts(html, by_count_text((uint64_t)count, buf, sizeof buf));
}

void by_html_number(struct by_str *html, double value)
{
    if (isnan(value))
        by_str_puts(html, unknown);
    else
        put_number(html, "%.4g", value, "");
}

void by_html_seconds(struct by_str *html, double seconds)
{
    if (isnan(seconds))
        by_str_puts(html, unknown);
    else if (seconds >= 60 && seconds < 1e9)
        by_str_printf(html, "%.0f\u00a0min\u00a0%.0f\u00a0s", floor(seconds / 60),
                      floor(fmod(seconds, 60)));
    else
        put_number(html, seconds < 10 ? "%.2f" : "%.1f", seconds, "s");
}

/* The room is 100 wide; a mark is a line across. */
void by_html_bar(struct by_str *html, double share, double mark)
{
    share = isnan(share) ? 0 : fmin(fmax(share, 0), 1);
    by_str_puts(html, "<svg class=\"bar\" viewBox=\"0 0 100 8\" preserveAspectRatio=\"none\" "
                      "aria-hidden=\"true\"><rect class=\"room\" width=\"100\" height=\"8\"/>");
    by_str_puts(html, "<rect class=\"fill\" height=\"8\" width=\"");
    put_number(html, "%.2f", 100 * share, "");
    by_str_puts(html, "\"/>");
    if (!isnan(mark)) {
        by_str_puts(html, "<rect class=\"mark\" width=\"1\" height=\"8\" x=\"");
        put_number(html, "%.2f", 99 * fmin(fmax(mark, 0), 1), "");
        by_str_puts(html, "\"/>");
    }
    by_str_puts(html, "</svg>");
}
