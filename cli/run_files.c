/* Saves the outputs of `baryon run` as one .npy file per sample and output. */
#include "cli/run_files.h"

#include "base/file.h"
#include "input/npy.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
}

/*
 * The name as a file's, and not one that was given out before. `used` counts how often
 * a name was asked for; a number after it is at least that count.
 */
static char *fresh_name(struct by_run_files *files, struct by_map *used, const char *name,
                        struct baryon_error *err)
{
    size_t size = strlen(name) + 24;
    char *plain = by_arena_alloc(&files->arena, size, 1, err);
    char *unique = plain ? by_arena_alloc(&files->arena, size, 1, err) : NULL;
    if (!unique)
        return NULL;
    for (size_t i = 0; name[i]; i++)
        plain[i] = is_plain(name[i]) && !(i == 0 && strchr(".-", name[i])) ? name[i] : '_';
    snprintf(unique, size, "%s", *plain ? plain : "_");
    size_t before = (size_t)(uintptr_t)by_map_get(used, plain);
    for (size_t number = before; by_map_get(used, unique);)
        snprintf(unique, size, "%s-%zu", plain, ++number);
    if (by_map_put(used, plain, (void *)(uintptr_t)(before + 1), err) < 0)
        return NULL;
    if (before && by_map_put(used, unique, (void *)(uintptr_t)1, err) < 0)
        return NULL;
    return unique;
}

static char *join_file_path(struct by_arena *arena, const char *folder, const char *name,
                            struct baryon_error *err)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = by_arena_alloc(arena, size, 1, err);
    return path && by_join_path(path, size, folder, name) ? path : NULL;
}

static int make_folder(const char *folder, bool force, struct baryon_error *err)
{
    struct by_listing listing;
    char quoted[BY_QUOTE_MAX];
    if (by_make_folders(folder, err) < 0 || by_list_folder(&listing, folder, err) < 0)
        return -1;
    size_t count = listing.count;
    by_listing_release(&listing);
    if (!count || force)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "folder %s is not empty (%zu %s)", by_quote(quoted, folder),
            count, count == 1 ? "file" : "files");
    return by_err_hint(err,
                       "give another folder, or overwrite files of the same names with --force");
}

static int open_folders(struct by_run_files *files, struct by_map *used, const char *folder,
                        const char *const *outputs, bool force, struct baryon_error *err)
{
    for (size_t i = 0; i < files->count; i++) {
        files->folders[i] = folder;
        if (files->count > 1) {
            const char *name = fresh_name(files, used, outputs[i], err);
            files->folders[i] = name ? join_file_path(&files->arena, folder, name, err) : NULL;
        }
        if (!files->folders[i] || make_folder(files->folders[i], force, err) < 0)
            return -1;
    }
    return 0;
}

int by_run_files_open(struct by_run_files *files, const char *folder, const char *const *outputs,
                      size_t count, bool force, struct baryon_error *err)
{
    struct by_map used;
    *files = (struct by_run_files){.count = count};
    files->writer_flags = BY_WRITER_NO_SYNC | (force ? 0 : BY_WRITER_EXCLUSIVE);
    by_arena_init(&files->arena, 0);
    by_map_init(&files->used);
    by_map_init(&used);
    files->folders = by_arena_alloc(&files->arena, count, sizeof *files->folders, err);
    int status = files->folders ? open_folders(files, &used, folder, outputs, force, err) : -1;
    by_map_release(&used);
    if (status < 0)
        by_run_files_close(files);
    return status;
}

int by_run_files_add(struct by_run_files *files, const char *sample, const struct by_array *outputs,
                     size_t count, struct baryon_error *err)
{
    const char *name = fresh_name(files, &files->used, sample, err);
    char file[4096], path[8192];
    if (!name)
        return -1;
    snprintf(file, sizeof file, "%s.npy", name);
    for (size_t i = 0; i < count; i++) {
        const struct by_array *array = &outputs[i];
        if (!by_join_path(path, sizeof path, files->folders[i], file))
            return by_fail(err, BARYON_ERR_IO, "a path of more than %zu bytes", sizeof path - 1);
        if (by_npy_save(path, array->elem, array->dims, array->rank, array->data, array->size,
                        files->writer_flags, err) < 0)
            return -1;
        files->written++;
    }
    return 0;
}

void by_run_files_close(struct by_run_files *files)
{
    by_map_release(&files->used);
    by_arena_release(&files->arena);
}
