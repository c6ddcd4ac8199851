/* Reads the file of class labels for measures that need them. */
#include "evaluate/evaluate.h"

#include "input/npy.h"

#include <string.h>

#define MOST_BYTES ((size_t)256 << 20)
#define APART      " \t\r\n,;"

static int read_npy(struct by_arena *arena, const uint8_t *bytes, size_t size,
                    struct by_labels *labels, struct baryon_error *err)
{
    struct by_npy_header header;
    if (by_npy_parse(bytes, size, &header, err) < 0)
        return -1;
    uint8_t *native = by_arena_alloc(arena, header.bytes, 1, err);
    labels->at = by_arena_alloc(arena, header.count, sizeof *labels->at, err);
    if (!native || !labels->at)
        return -1;
    labels->count = header.count;
    by_npy_copy(&header, bytes, native);
    return by_elem_to_ints(header.elem, native, 0, header.count, labels->at, err);
}

static int read_text(struct by_arena *arena, char *text, struct by_labels *labels,
                     struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct {
        int64_t *at;
        size_t count, cap;
    } list = {0};
    for (char *at = text + strspn(text, APART); *at; at += strspn(at, APART)) {
        char *end = at + strcspn(at, APART);
        const bool last = !*end;
        *end = '\0';
        if (by_list_reserve(arena, &list, 1, sizeof *list.at, err) < 0)
            return -1;
        if (!by_parse_i64(at, &list.at[list.count]))
            return by_fail(err, BARYON_ERR_INPUT, "label %zu is %s, must be a whole number",
                           list.count, by_quote(quoted, at));
        list.count++;
        at = last ? end : end + 1;
    }
    *labels = (struct by_labels){list.at, list.count};
    return 0;
}

int by_labels_read(struct by_arena *arena, const char *path, struct by_labels *labels,
                   struct baryon_error *err)
{
    char *bytes;
    size_t size;
    if (by_read_file(path, MOST_BYTES, &bytes, &size, err) < 0)
        return by_err_file(err, path);
    int status;
    if (by_npy_sniff((const uint8_t *)bytes, size))
        status = read_npy(arena, (const uint8_t *)bytes, size, labels, err);
    else
        status = read_text(arena, bytes, labels, err);
    by_free(bytes);
    if (status == 0 && !labels->count)
        status = by_fail(err, BARYON_ERR_INPUT, "the file contains no labels");
    return status < 0 ? by_err_file(err, path) : 0;
}
