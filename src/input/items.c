/* Lists the sample files of a folder, or of one subfolder per input. */
#include "input/items.h"

#include "base/fault.h"
#include "base/format.h"
#include "base/map.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

const char *by_path_join(struct by_arena *arena, const char *folder, const char *name,
                         struct baryon_error *err)
{
    const size_t length = strlen(folder);
    const char *between = length && folder[length - 1] != '/' ? "/" : "";
    const size_t size = length + strlen(name) + 2;
    char *path = by_arena_alloc(arena, size, 1, err);
    if (path)
        by_format(path, size, "%s%s%s", folder, between, name);
    return path;
}

size_t by_stem_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? (size_t)(dot - name) : strlen(name);
}

/* 1 or 0, or -1 when it cannot be found out. */
static int is_folder(const char *path, struct baryon_error *err)
{
    struct stat status;
    if (!by_fault(BY_FAULT_IO) && stat(path, &status) == 0)
        return S_ISDIR(status.st_mode);
    if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
        return 0;
    by_fail_errno(err, BARYON_ERR_IO, "the folder of an input cannot be read");
    return by_err_file(err, path);
}

/* The subfolder that would hold an input's files. An input's name never leads elsewhere. */
static const char *subfolder(struct by_arena *arena, const char *folder, const char *input,
                             struct baryon_error *err)
{
    char *name = by_arena_text(arena, input, strlen(input), err);
    if (!name)
        return NULL;
    for (char *at = name; *at; at++)
        if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
            !(*at >= '0' && *at <= '9') && *at != '.' && *at != '_' && *at != '-')
            *at = '_';
    if (name[0] == '.' || name[0] == '\0')
        name = by_arena_text(arena, "_", 1, err);
    return name ? by_path_join(arena, folder, name, err) : NULL;
}

struct kinds {
    const struct by_reader *reader;
    const char *first; /* file that settled the reader */
    const char *left_out;
    size_t left_out_count;
};

/* Files of a folder that one reader takes, others counted. Two readers are refused. */
static int choose_reader_files(const struct by_listing *listing, struct kinds *kinds,
                               const char **names, size_t *count, struct baryon_error *err)
{
    char one[BY_QUOTE_MAX], two[BY_QUOTE_MAX];
    *count = 0;
    for (size_t i = 0; i < listing->count; i++) {
        const char *name = listing->names[i];
        const struct by_reader *reader = by_reader_by_name(name);
        if (!reader) {
            kinds->left_out = kinds->left_out_count++ ? kinds->left_out : name;
            continue;
        }
        if (!kinds->reader) {
            kinds->reader = reader;
            kinds->first = name;
        }
        if (reader != kinds->reader) {
            by_fail(err, BARYON_ERR_INPUT, "the folder mixes kinds of files: %s is %s, %s is %s",
                    by_quote(one, kinds->first), kinds->reader->name, by_quote(two, name),
                    reader->name);
            return by_err_hint(err, "use one kind per folder, or give a .txt list of paths");
        }
        names[(*count)++] = name;
    }
    return 0;
}

static int refuse_empty(const char *folder, const struct kinds *kinds, struct baryon_error *err)
{
    if (kinds->left_out_count)
        by_fail(err, BARYON_ERR_INPUT, "the folder contains no samples, only other files (%zu)",
                kinds->left_out_count);
    else
        by_fail(err, BARYON_ERR_INPUT, "the folder contains no files");
    by_err_hint(err, "samples must be .npy, .npz, .jpg, .jpeg, .png or .raw files; list files of "
                     "subfolders in a .txt file");
    return by_err_file(err, folder);
}

static int copy_names(struct by_arena *arena, const char *folder, const char *const *names,
                      size_t count, const char **out, size_t step, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++) {
        out[i * step] = by_path_join(arena, folder, names[i], err);
        if (!out[i * step])
            return -1;
    }
    return 0;
}

/* The readable files of one folder, as paths in the arena. */
static int list_files(struct by_arena *arena, const char *folder, const struct by_log *log,
                      const char ***paths, size_t *count, struct baryon_error *err)
{
    struct by_listing listing;
    struct kinds kinds = {0};
    char quoted[BY_QUOTE_MAX];
    if (by_list_folder(&listing, folder, err) < 0) {
        by_err_file(err, folder);
        return -1;
    }
    const char **names = by_alloc(listing.count, sizeof *names, err);
    int failed = names ? choose_reader_files(&listing, &kinds, names, count, err) : -1;
    *paths = NULL;
    if (failed == 0 && *count == 0)
        failed = refuse_empty(folder, &kinds, err);
    if (failed == 0)
        *paths = by_arena_alloc(arena, *count, sizeof **paths, err);
    failed = *paths ? copy_names(arena, folder, names, *count, *paths, 1, err) : -1;
    if (failed == 0 && kinds.left_out_count)
        by_log(log, BY_LOG_NOTICE, "%s: files skipped that are not samples: %zu (the first is %s)",
               folder, kinds.left_out_count, by_quote(quoted, kinds.left_out));
    by_free(names);
    by_listing_release(&listing);
    if (failed < 0)
        by_err_file(err, folder);
    return failed;
}

static const char *stem(struct by_arena *arena, const char *path, struct baryon_error *err)
{
    const char *name = by_basename(path);
    return by_arena_text(arena, name, by_stem_length(name), err);
}

/* Finds each file's place among the first group's by stem. */
static int place_group(struct by_arena *arena, const struct by_map *places, const char **paths,
                       size_t count, size_t group, struct by_items *items, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count; i++) {
        const char *name = stem(arena, paths[i], err);
        if (!name)
            return -1;
        const char **place = by_map_get(places, name);
        if (!place) {
            by_fail(err, BARYON_ERR_INPUT,
                    "the first input has no file %s, every sample requires one file per input",
                    by_quote(quoted, name));
            return by_err_file(err, paths[i]);
        }
        if (place[group]) {
            by_fail(err, BARYON_ERR_INPUT, "two files of one input are named %s",
                    by_quote(quoted, name));
            return by_err_file(err, paths[i]);
        }
        place[group] = paths[i];
    }
    for (size_t i = 0; i < items->count; i++)
        if (!items->paths[i * items->groups + group]) {
            by_fail(err, BARYON_ERR_INPUT, "the folder of input %zu has no file for this sample",
                    group);
            return by_err_file(err, items->paths[i * items->groups]);
        }
    return 0;
}

/* The first group settles the samples and their order. */
static int place_first(struct by_arena *arena, struct by_map *places, const char **paths,
                       size_t count, struct by_items *items, struct baryon_error *err)
{
    size_t cells;
    if (by_mul_overflow(count, items->groups, &cells))
        return by_err_nomem(err, SIZE_MAX);
    items->paths = by_arena_alloc(arena, cells, sizeof *items->paths, err);
    if (!items->paths)
        return -1;
    items->count = count;
    for (size_t i = 0; i < count; i++) {
        const char *name = stem(arena, paths[i], err);
        if (!name)
            return -1;
        if (by_map_get(places, name)) {
            by_fail(err, BARYON_ERR_INPUT, "two files of one input have the same name");
            return by_err_file(err, paths[i]);
        }
        items->paths[i * items->groups] = paths[i];
        if (by_map_put(places, name, &items->paths[i * items->groups], err) < 0)
            return -1;
    }
    return 0;
}

static int find_groups(struct by_arena *arena, const char *const *folders, size_t count,
                       const struct by_log *log, struct by_items *items, struct baryon_error *err)
{
    struct by_map places;
    int failed = 0;
    *items = (struct by_items){.groups = count};
    by_map_init(&places);
    for (size_t g = 0; g < count && failed == 0; g++) {
        const char **paths = NULL;
        size_t files = 0;
        failed = list_files(arena, folders[g], log, &paths, &files, err);
        if (failed == 0 && g == 0)
            failed = place_first(arena, &places, paths, files, items, err);
        else if (failed == 0)
            failed = place_group(arena, &places, paths, files, g, items, err);
    }
    by_map_release(&places);
    return failed;
}

static int find_in_folder(struct by_arena *arena, const char *path, const struct by_port *ports,
                          size_t port_count, const struct by_log *log, struct by_items *items,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    size_t found = 0, missing = 0;
    const char **folders = by_arena_alloc(arena, port_count, sizeof *folders, err);
    if (!folders)
        return -1;
    for (size_t i = 0; i < port_count; i++) {
        folders[i] = subfolder(arena, path, ports[i].name, err);
        if (!folders[i])
            return -1;
        const int is = is_folder(folders[i], err);
        if (is < 0)
            return -1;
        found += (size_t)is;
        missing = is ? missing : i;
    }
    if (found == port_count)
        return find_groups(arena, folders, port_count, log, items, err);
    if (found) {
        by_fail(err, BARYON_ERR_INPUT, "%zu inputs have a subfolder, but input %s has none (%s)",
                found, by_quote(quoted, ports[missing].name), by_basename(folders[missing]));
        return by_err_file(err, path);
    }
    *items = (struct by_items){.groups = 1};
    return list_files(arena, path, log, &items->paths, &items->count, err);
}

int by_items_find(struct by_arena *arena, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_log *log, struct by_items *items,
                  struct baryon_error *err)
{
    struct stat stat_of;
    if (by_fault(BY_FAULT_IO) || stat(path, &stat_of) < 0) {
        by_fail_errno(err, errno == ENOENT ? BARYON_ERR_INPUT : BARYON_ERR_IO,
                      "the samples cannot be read");
        return by_err_file(err, path);
    }
    if (S_ISDIR(stat_of.st_mode))
        return find_in_folder(arena, path, ports, port_count, log, items, err);
    if (by_has_suffix(path, ".txt"))
        return by_list_read(arena, path, items, err);
    *items = (struct by_items){.groups = 1, .count = 1};
    items->paths = by_arena_alloc(arena, 1, sizeof *items->paths, err);
    if (!items->paths)
        return -1;
    items->paths[0] = by_arena_text(arena, path, strlen(path), err);
    return items->paths[0] ? 0 : -1;
}
