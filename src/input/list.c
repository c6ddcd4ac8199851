/* Text lists of files: one path a line. */
#include "base/str.h"
#include "input/items.h"

#include <string.h>

#define LIST_BYTES_MAX ((size_t)256 << 20)
#define LINE_BYTES_MAX 4096u

static int add_line(struct by_arena *arena, const char *folder, const char *line, size_t size,
                    struct by_items *items, struct baryon_error *err)
{
    if (size && line[size - 1] == '\r')
        size--;
    if (size == 0 || line[0] == '#')
        return 0;
    if (size > LINE_BYTES_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "a path of %zu bytes, must be at most %u", size,
                       LINE_BYTES_MAX);
    if (memchr(line, 0, size))
        return by_fail(err, BARYON_ERR_INPUT, "a NUL byte in a list of paths");
    const char *path = by_arena_text(arena, line, size, err);
    if (path && path[0] != '/')
        path = by_path_join(arena, folder, path, err);
    if (!path)
        return -1;
    items->paths[items->count++] = path;
    return 0;
}

static int read_lines(struct by_arena *arena, const char *folder, const char *text, size_t size,
                      struct by_items *items, struct baryon_error *err)
{
    const char *at = text, *end = text + size;
    for (size_t number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            stop = end;
        if (add_line(arena, folder, at, (size_t)(stop - at), items, err) < 0) {
            by_err_offset(err, (uint64_t)(at - text));
            return by_err_in(err, "line %zu", number);
        }
        at = stop + 1;
    }
    return 0;
}

static size_t count_lines(const char *text, size_t size)
{
    size_t lines = 1;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    return lines;
}

int by_list_read(struct by_arena *arena, const char *path, struct by_items *items,
                 struct baryon_error *err)
{
    char folder[LINE_BYTES_MAX];
    char *text = NULL;
    size_t size = 0;
    *items = (struct by_items){.groups = 1};
    if (!by_folder_of(path, folder, sizeof folder))
        return by_fail(err, BARYON_ERR_INPUT, "the path of the list is too long");
    if (by_read_file(path, LIST_BYTES_MAX, &text, &size, err) < 0)
        return by_err_file(err, path);
    items->paths = by_arena_alloc(arena, count_lines(text, size), sizeof *items->paths, err);
    int failed = items->paths ? read_lines(arena, folder, text, size, items, err) : -1;
    by_free(text);
    if (failed == 0 && items->count == 0)
        failed = by_fail(err, BARYON_ERR_INPUT, "the list contains no file");
    return failed < 0 ? by_err_file(err, path) : 0;
}
