/* Opens GGUF files, those in several parts too, as llama-gguf-split makes them. */
#include "llm/store/internal.h"

#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- Names --- */

bool by_gguf_part(const char *name, size_t *stem, unsigned *part, unsigned *parts)
{
    static const char pattern[] = "-ddddd-of-ddddd.gguf";
    const size_t length = strlen(name), tail = sizeof pattern - 1;
    if (length <= tail)
        return false;
    *stem = length - tail;
    *part = *parts = 0;
    for (size_t i = 0; i < tail; i++) {
        const char here = name[*stem + i];
        unsigned *number = i < 6 ? part : parts;
        if (pattern[i] != 'd') {
            if (here != pattern[i])
                return false;
        } else if (here < '0' || here > '9')
            return false;
        else
            *number = *number * 10 + (unsigned)(here - '0');
    }
    return true;
}

bool by_gguf_part_name(char *buf, size_t size, const char *name, size_t stem, unsigned part,
                       unsigned parts)
{
    const int length = snprintf(buf, size, "%.*s-%05u-of-%05u.gguf", (int)stem, name, part, parts);
    return length > 0 && (size_t)length < size;
}

/* --- Parts --- */

struct split {
    struct by_checkpoint *checkpoint;
    const char *name; /* of the first part */
    size_t stem;
    unsigned count;
};

/* The number of a part or of parts, which every part has. */
static int read_number(const struct by_gguf *gguf, const char *key, uint64_t *number,
                       struct baryon_error *err)
{
    if (by_gguf_uint(gguf, key, number))
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "has no number %s, a part of a file must have it", key);
}

static int name_gguf_part(const struct split *split, unsigned part, const char **name,
                          struct baryon_error *err)
{
    char buf[512];
    if (!by_gguf_part_name(buf, sizeof buf, split->name, split->stem, part, split->count))
        return by_fail(err, BARYON_ERR_INPUT, "name has %zu bytes, must have fewer than 512",
                       strlen(split->name));
    *name = by_arena_text(&split->checkpoint->arena, buf, strlen(buf), err);
    return *name ? 0 : -1;
}

/* The first part says how many there are, and its name where they are. */
static int find_split(struct split *split, uint64_t count, struct baryon_error *err)
{
    const struct by_checkpoint *checkpoint = split->checkpoint;
    unsigned part, parts;
    uint64_t number;
    if (read_number(checkpoint->gguf, "split.no", &number, err))
        return -1;
    split->name = checkpoint->files[0].name;
    const bool named = by_gguf_part(split->name, &split->stem, &part, &parts);
    if (number) {
        by_fail(err, BARYON_ERR_INPUT, "is part %" PRIu64 " of %" PRIu64 ", must be the first",
                number + 1, count);
        return named ? by_err_hint(err, "name the file that ends with -00001-of-%05u.gguf", parts)
                     : -1;
    }
    if (named && part == 1 && parts == count) {
        split->count = (unsigned)count;
        return 0;
    }
    by_fail(err, BARYON_ERR_INPUT,
            "is the first of %" PRIu64 " parts, name must end with -00001-of-%05" PRIu64 ".gguf",
            count, count);
    return by_err_hint(err, "give the parts the names that llama-gguf-split gave them");
}

static int check_all_there(const struct split *split, struct baryon_error *err)
{
    char path[4096], quoted[BY_QUOTE_MAX];
    const char *name;
    for (unsigned part = 2; part <= split->count; part++) {
        if (name_gguf_part(split, part, &name, err))
            return -1;
        if (!by_join_path(path, sizeof path, split->checkpoint->folder, name) ||
            !by_file_exists(path))
            return by_fail(err, BARYON_ERR_INPUT, "has no %s beside it, must have all %u parts",
                           by_quote(quoted, name), split->count);
    }
    return 0;
}

static int grow_files(const struct split *split, struct baryon_error *err)
{
    struct by_checkpoint *checkpoint = split->checkpoint;
    struct by_stored_file *files =
        by_arena_alloc(&checkpoint->arena, split->count, sizeof *files, err);
    if (!files)
        return -1;
    files[0] = checkpoint->files[0];
    for (unsigned i = 1; i < split->count; i++) {
        files[i] = (struct by_stored_file){0};
        files[i].mapped.fd = -1;
    }
    checkpoint->files = files;
    checkpoint->file_count = split->count;
    return 0;
}

static int check_part(const struct by_gguf *gguf, const struct split *split, unsigned part,
                      struct baryon_error *err)
{
    uint64_t number, count;
    if (read_number(gguf, "split.no", &number, err) ||
        read_number(gguf, "split.count", &count, err))
        return -1;
    if (number != part - 1)
        return by_fail(err, BARYON_ERR_INPUT,
                       "split.no is %" PRIu64 ", must be %u in a file of that name", number,
                       part - 1);
    if (count != split->count)
        return by_fail(err, BARYON_ERR_INPUT,
                       "split.count is %" PRIu64 ", must be %u as in the first part", count,
                       split->count);
    return 0;
}

static int open_part(const struct split *split, unsigned part, struct by_stored_list *list,
                     struct baryon_error *err)
{
    struct by_checkpoint *checkpoint = split->checkpoint;
    struct by_gguf gguf = {0};
    const char *name;
    by_map_init(&gguf.by_key);
    int status =
        name_gguf_part(split, part, &name, err) || by_stored_map(checkpoint, part - 1, name, err);
    if (!status)
        status = by_gguf_header(checkpoint, part - 1, &gguf, list, err) ||
                 check_part(&gguf, split, part, err);
    if (status && checkpoint->files[part - 1].path)
        by_err_file(err, checkpoint->files[part - 1].path);
    by_map_release(&gguf.by_key);
    return status ? -1 : 0;
}

static int open_parts(struct by_checkpoint *checkpoint, uint64_t count, struct by_stored_list *list,
                      struct baryon_error *err)
{
    struct split split = {.checkpoint = checkpoint};
    uint64_t tensors;
    if (find_split(&split, count, err) ||
        read_number(checkpoint->gguf, "split.tensors.count", &tensors, err) ||
        check_all_there(&split, err) || grow_files(&split, err))
        return -1;
    for (unsigned part = 2; part <= split.count; part++)
        if (open_part(&split, part, list, err))
            return -1;
    if (tensors == list->count)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT,
                   "split.tensors.count is %" PRIu64 ", the parts have %zu tensors", tensors,
                   list->count);
}

int by_gguf_open(struct by_checkpoint *checkpoint, struct by_stored_list *list,
                 struct baryon_error *err)
{
    struct by_gguf *gguf = BY_ARENA_NEW(&checkpoint->arena, struct by_gguf, err);
    uint64_t parts;
    if (!gguf)
        return -1;
    checkpoint->container = BY_GGUF;
    checkpoint->gguf = gguf;
    by_map_init(&gguf->by_key);
    if (by_gguf_header(checkpoint, 0, gguf, list, err))
        return -1;
    if (!by_gguf_uint(gguf, "split.count", &parts) || parts < 2)
        return 0;
    if (open_parts(checkpoint, parts, list, err))
        return by_err_file(err, checkpoint->files[0].path);
    return 0;
}
