/* Two folders of results, compared file by file. */
#include "evaluate/evaluate.h"

#include "base/format.h"
#include "input/image.h"
#include "input/npy.h"

#include <limits.h>
#include <string.h>

/* A file's array; its values are freed with by_free(). */
struct result {
    struct by_array array;
    void *values;
};

static bool is_result(const char *name)
{
    static const char *const suffixes[] = {".npy", ".png", ".jpg", ".jpeg"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (by_has_suffix(name, suffixes[i]))
            return true;
    return false;
}

static bool has_name(const struct by_listing *listing, const char *name)
{
    size_t low = 0, high = listing->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(listing->names[middle], name);
        if (!order)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* --- One file --- */

static int take_npy(const struct by_mapped *file, struct result *result, struct baryon_error *err)
{
    struct by_npy_header header;
    if (by_npy_parse(file->bytes, file->size, &header, err) < 0 ||
        !(result->values = by_alloc(header.bytes, 1, err)))
        return -1;
    by_npy_copy(&header, file->bytes, result->values);
    result->array = (struct by_array){
        .elem = header.elem, .rank = header.rank, .data = result->values, .size = header.bytes};
    memcpy(result->array.dims, header.dims, sizeof header.dims);
    return 0;
}

static int take_picture(const struct by_mapped *file, struct result *result,
                        struct baryon_error *err)
{
    struct by_image image;
    if (by_image_decode(file->bytes, file->size, &image, err) < 0)
        return -1;
    result->values = image.rgb;
    result->array = (struct by_array){.elem = BY_ELEM_UINT8,
                                      .rank = 3,
                                      .data = image.rgb,
                                      .size = image.width * image.height * 3,
                                      .dims = {(int64_t)image.height, (int64_t)image.width, 3}};
    return 0;
}

/* What happens to the file meanwhile is told, instead of wrong values. */
static int take_file(const char *path, struct result *result, struct baryon_error *err)
{
    struct by_mapped file;
    if (by_mapped_open(&file, path, err) < 0)
        return by_err_file(err, path);
    int status = by_has_suffix(path, ".npy") ? take_npy(&file, result, err)
                                             : take_picture(&file, result, err);
    if (status == 0)
        status = by_mapped_check(&file, err);
    by_mapped_close(&file);
    return status < 0 ? by_err_file(err, path) : 0;
}

static int join_folder_path(char *path, size_t size, const char *folder, const char *name,
                            struct baryon_error *err)
{
    if (by_join_path(path, size, folder, name))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "the path has more than %zu bytes", size - 1);
    return by_err_file(err, folder);
}

static int compare_result_files(struct by_evaluation *evaluation, const char *baseline,
                                const char *result, const char *name, struct baryon_error *err)
{
    char path[PATH_MAX];
    struct result one = {0}, other = {0};
    int status = join_folder_path(path, sizeof path, baseline, name, err);
    if (status == 0)
        status = take_file(path, &one, err);
    if (status == 0)
        status = join_folder_path(path, sizeof path, result, name, err);
    if (status == 0)
        status = take_file(path, &other, err);
    if (status == 0 &&
        by_evaluation_add(evaluation, 0, name, &one.array, &other.array, NULL, err) < 0)
        status = by_err_file(err, path);
    by_free(one.values);
    by_free(other.values);
    return status;
}

/* --- All files --- */

static int no_counterpart(const char *folder, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "file %s is missing, the baseline folder has it",
            by_quote(quoted, name));
    by_err_hint(err, "files are matched by name");
    return by_err_file(err, folder);
}

static int refuse_empty(const char *folder, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "the folder contains no results");
    by_err_hint(err, "results are .npy, .png, .jpg and .jpeg files");
    return by_err_file(err, folder);
}

static void tell_others(const struct by_listing *baseline, const struct by_listing *result,
                        const char *folder, const struct by_log *log)
{
    size_t count = 0;
    const char *first = NULL;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < result->count; i++)
        if (is_result(result->names[i]) && !has_name(baseline, result->names[i])) {
            first = count++ ? first : result->names[i];
        }
    if (count)
        by_log(log, BY_LOG_NOTICE,
               "%s: files skipped that the baseline folder does not have: %zu (the first is %s)",
               folder, count, by_quote(quoted, first));
}

static int compare_all(struct by_evaluation *evaluation, const struct by_listing *names,
                       const struct by_listing *others, const char *baseline, const char *result,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->names[i];
        if (!is_result(name))
            continue;
        if (!has_name(others, name))
            return no_counterpart(result, name, err);
        if (compare_result_files(evaluation, baseline, result, name, err) < 0)
            return -1;
        evaluation->samples++;
    }
    return evaluation->samples ? 0 : refuse_empty(baseline, err);
}

static int list(struct by_listing *listing, const char *folder, struct baryon_error *err)
{
    return by_list_folder(listing, folder, err) < 0 ? by_err_file(err, folder) : 0;
}

static int evaluate(struct by_evaluation *evaluation, const char *baseline, const char *result,
                    const struct by_evaluate_options *options, struct baryon_error *err)
{
    struct by_listing names, others;
    if (list(&names, baseline, err) < 0)
        return -1;
    int status = list(&others, result, err);
    if (status == 0) {
        status = compare_all(evaluation, &names, &others, baseline, result, err);
        if (status == 0)
            tell_others(&names, &others, result, options->run.log);
        by_listing_release(&others);
    }
    by_listing_release(&names);
    return status == 0 ? by_evaluation_finish(evaluation, err) : -1;
}

int by_evaluate_folders(struct by_evaluation **out, const char *baseline, const char *result,
                        const struct by_evaluate_options *options, struct baryon_error *err)
{
    static const char *const one = NULL;
    if (by_evaluation_open(out, options->settings, &one, 1, err) < 0)
        return -1;
    if (evaluate(*out, baseline, result, options, err) == 0)
        return 0;
    by_evaluation_close(*out);
    *out = NULL;
    return -1;
}
