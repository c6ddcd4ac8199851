/* Edits the part of a config that says how to quantize: its maps of rules become one each. */
#include "search/auto_internal.h"

#include <string.h>

static const char *const heads[] = {"nodes:\n", "tensors:\n"};

/* The line of a map's key; NULL: there is none. */
static const char *find_head(const char *text, const char *head)
{
    for (const char *line = text; line && *line;) {
        if (!strncmp(line, head, strlen(head)))
            return line;
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return NULL;
}

/* Its rows, which are indented. */
static size_t rows_after(const char *rows)
{
    size_t size = 0;
    while (rows[size] == ' ')
        size += strcspn(rows + size, "\n") + 1;
    return size;
}

static void put_map(const char *head, const char *one, const char *other, struct by_str *rest)
{
    const char *const maps[] = {find_head(one, head), find_head(other, head)};
    if (!maps[0] && !maps[1])
        return;
    by_str_puts(rest, head);
    for (size_t i = 0; i < 2; i++)
        if (maps[i])
            by_str_add(rest, maps[i] + strlen(head), rows_after(maps[i] + strlen(head)));
}

/* All but the maps. */
static void put_options(const char *text, struct by_str *rest)
{
    while (*text) {
        size_t size = strcspn(text, "\n") + 1;
        bool is_map = false;
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            is_map = is_map || !strncmp(text, heads[i], strlen(heads[i]));
        if (is_map)
            size += rows_after(text + size);
        else
            by_str_add(rest, text, size);
        text += size;
    }
}

void by_auto_merge(const char *one, const char *other, struct by_str *rest)
{
    put_options(one, rest);
    put_options(other, rest);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        put_map(heads[i], one, other, rest);
}

#define REST "\n# Quantization\n"

void by_auto_yaml(const struct by_auto_work *work, const char *rest, struct by_str *yaml)
{
    by_str_printf(yaml, "%s" REST "%s", by_str_text(&work->head), rest);
}

const char *by_auto_rest(const struct by_auto_work *work, const struct by_auto_point *point)
{
    return point->yaml + strlen(by_str_text(&work->head)) + strlen(REST);
}
