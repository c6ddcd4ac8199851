/* Reads names of classes. */
#include "report/class_names.h"

#include "base/file.h"

#include <string.h>

#define FILE_BYTES ((size_t)16 << 20)
#define LABELS     ((size_t)1 << 20)

static int make_room(struct by_class_names *labels, size_t count, struct by_arena *arena,
                     struct baryon_error *err)
{
    labels->at = by_arena_alloc(arena, count + 1, sizeof *labels->at, err);
    if (!labels->at)
        return -1;
    memset(labels->at, 0, count * sizeof *labels->at);
    labels->count = count;
    return 0;
}

/* --- A file --- */

static size_t count_lines(const char *text)
{
    size_t count = 0;
    for (const char *at = text; *at; at += *at == '\n') {
        at += strcspn(at, "\n");
        count++;
    }
    return count;
}

static int take_lines(struct by_class_names *labels, const char *text, struct by_arena *arena,
                      struct baryon_error *err)
{
    if (make_room(labels, count_lines(text), arena, err) < 0)
        return -1;
    for (size_t i = 0; i < labels->count; i++) {
        const size_t size = strcspn(text, "\n");
        const size_t kept = size && text[size - 1] == '\r' ? size - 1 : size;
        if (kept && !(labels->at[i] = by_arena_text(arena, text, kept, err)))
            return -1;
        text += size + (text[size] == '\n');
    }
    return 0;
}

int by_class_names_read(struct by_class_names *labels, const char *path, struct by_arena *arena,
                        struct baryon_error *err)
{
    char *text;
    size_t size;
    if (by_read_file(path, FILE_BYTES, &text, &size, err) < 0)
        return -1;
    int status = 0;
    if (strlen(text) != size)
        status = by_fail(err, BARYON_ERR_INPUT,
                         "%s: has a byte 0, names of classes must be text, one a line", path);
    if (status == 0)
        status = take_lines(labels, text, arena, err);
    by_free(text);
    return status;
}

/* --- Metadata --- */

struct reader {
    const char *at, *end;
};

static bool skip(struct reader *reader, char wanted)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n'))
        reader->at++;
    if (reader->at == reader->end || *reader->at != wanted)
        return false;
    reader->at++;
    return true;
}

static bool read_class(struct reader *reader, size_t *class)
{
    (void)skip(reader, '\0'); /* blanks */
    const char *begin = reader->at;
    *class = 0;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9' && *class < LABELS)
        *class = 10 * *class + (size_t)(*reader->at++ - '0');
    return reader->at > begin && *class < LABELS;
}

/* Between quotes of either kind, as Python writes texts; of escapes the character after. */
static bool read_text(struct reader *reader, char *text, size_t *size)
{
    const char quote = skip(reader, '\'') ? '\'' : '"';
    if (quote == '"' && !skip(reader, '"'))
        return false;
    *size = 0;
    while (reader->at < reader->end && *reader->at != quote) {
        reader->at += *reader->at == '\\' && reader->at + 1 < reader->end;
        text[(*size)++] = *reader->at++;
    }
    return skip(reader, quote);
}

/* {0: 'a', 1: 'b'}; names NULL: the greatest number is looked for. */
static bool walk(struct by_span map, char *text, size_t *count, const char **names,
                 struct by_arena *arena)
{
    struct reader reader = {(const char *)map.data, (const char *)map.data + map.size};
    *count = 0;
    if (!skip(&reader, '{'))
        return false;
    do {
        size_t class, size;
        if (!read_class(&reader, &class) || !skip(&reader, ':') || !read_text(&reader, text, &size))
            return false;
        *count = class >= *count ? class + 1 : *count;
        if (names && size && !(names[class] = by_arena_text(arena, text, size, NULL)))
            return false;
    } while (skip(&reader, ','));
    return skip(&reader, '}');
}

static int take_map(struct by_class_names *labels, struct by_span map, struct by_arena *arena,
                    struct baryon_error *err)
{
    size_t count;
    char *text = by_alloc(map.size + 1, 1, err);
    if (!text)
        return -1;
    int status = 0;
    if (walk(map, text, &count, NULL, arena)) {
        status = make_room(labels, count, arena, err);
        if (status == 0 && !walk(map, text, &count, labels->at, arena))
            status = by_err_nomem(err, map.size);
    }
    by_free(text);
    return status;
}

static int take_list(struct by_class_names *labels, struct by_span list, struct by_arena *arena,
                     struct baryon_error *err)
{
    const char *text = by_arena_text(arena, (const char *)list.data, list.size, err);
    labels->exact = true;
    return text ? take_lines(labels, text, arena, err) : -1;
}

static struct by_span value_of_key(const struct baryon_model *model, const char *key)
{
    for (size_t i = 0; i < model->metadata.count; i++) {
        const struct by_pair *pair = model->metadata.at[i];
        if (pair->key && !strcmp(pair->key, key))
            return pair->value;
    }
    return (struct by_span){0};
}

int by_class_names_of_model(struct by_class_names *labels, const struct baryon_model *model,
                            struct by_arena *arena, struct baryon_error *err)
{
    const struct by_span map = value_of_key(model, "names");
    const struct by_span list = value_of_key(model, "character");
    *labels = (struct by_class_names){.count = 0};
    if (map.size)
        return take_map(labels, map, arena, err);
    return list.size ? take_list(labels, list, arena, err) : 0;
}
