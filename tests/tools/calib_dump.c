/*
 * What calibration methods choose for a tensor, for tests that compare with other
 * implementations. Commands are lines on stdin, words separated by blanks:
 *
 *   TARGET OPTIONS METHOD FILE...    each .npy is the tensor of one sample
 *   rows                             names of all methods with those of their options
 *
 * TARGET is QMIN,QMAX,SYMMETRIC,POWER_OF_TWO or float,GREATEST; OPTIONS are those of methods as
 * NAME=VALUE joined by semicolons, or "-"; METHOD is a name or "all". Each line gives one line of
 * JSON: an object with the name of each method that suits the target, or {"error": "..."}. The same
 * files as in the line before are not read again.
 */
#include "base/file.h"
#include "calib/votes.h"
#include "config/value.h"
#include "input/npy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_target(const char *word, struct by_calib_target *target)
{
    int symmetric, power_of_two;
    *target = (struct by_calib_target){.qmin = 0};
    if (sscanf(word, "float,%lf", &target->value_max) == 1) {
        target->is_float = target->symmetric = true;
        return true;
    }
    if (sscanf(word, "%" SCNd64 ",%" SCNd64 ",%d,%d", &target->qmin, &target->qmax, &symmetric,
               &power_of_two) != 4)
        return false;
    target->symmetric = symmetric;
    target->power_of_two = power_of_two;
    return true;
}

/* An option that the method does not have is left out. */
static int set_option(const struct by_calibrator *method, const char *name, const char *value,
                      char *own, struct by_arena *arena, struct baryon_error *err)
{
    for (size_t i = 0; i < method->options->count; i++) {
        const struct by_option *row = &method->options->rows[i].row;
        if (strcmp(row->name, name) != 0)
            continue;
        by_value_clear(row, own + row->offset);
        return by_value_parse(arena, row, value, NULL, own + row->offset, err);
    }
    return 0;
}

/* The method's options, with what the words change. */
static int read_options(const struct by_calibrator *method, const char *words,
                        struct by_calib_options *options, struct by_arena *arena,
                        struct baryon_error *err)
{
    by_calib_defaults(method, options);
    if (!method->options || !strcmp(words, "-"))
        return 0;
    char *rest, *copy = by_arena_text(arena, words, strlen(words), err);
    char *own = by_arena_alloc(arena, 1, method->options->size, err);
    if (!copy || !own)
        return -1;
    memcpy(own, options->own, method->options->size);
    options->own = own;
    for (char *word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        char *mark = strchr(word, '=');
        if (!mark)
            return by_fail(err, BARYON_ERR_USAGE, "%s is not NAME=VALUE", word);
        *mark = '\0';
        if (set_option(method, word, mark + 1, own, arena, err) < 0)
            return -1;
    }
    return 0;
}

/* A sample, which votes. */
static int look(struct by_sketch *sketch, const void *values, const struct by_npy_header *header,
                uint64_t sample, struct baryon_error *err)
{
    size_t count;
    const struct by_vote_levels *levels = by_vote_all_levels(&count);
    struct by_sketch alone;
    by_sketch_init(&alone);
    const int failed =
        by_sketch_look_ref(&alone, values, header->elem, header->count, sample, err) < 0 ||
        by_votes_cast(&alone, levels, count, err) < 0 || by_sketch_merge(sketch, &alone, err) < 0;
    by_sketch_release(&alone);
    return failed ? -1 : 0;
}

static int look_at(struct by_sketch *sketch, const char *path, uint64_t sample,
                   struct baryon_error *err)
{
    struct by_mapped file;
    struct by_npy_header header;
    if (by_mapped_open(&file, path, err) < 0)
        return -1;
    void *values = NULL;
    int failed = by_npy_parse(file.bytes, file.size, &header, err) < 0 ||
                 !(values = by_alloc(header.bytes, 1, err));
    if (!failed) {
        by_npy_copy(&header, file.bytes, values);
        failed = look(sketch, values, &header, sample, err);
    }
    by_free(values);
    by_mapped_close(&file);
    return failed ? -1 : 0;
}

static void show_error(const struct baryon_error *err)
{
    char text[512];
    baryon_error_format(err, text, sizeof text);
    for (char *at = text; *at; at++)
        if (*at == '"' || *at == '\\' || *at < ' ')
            *at = '\'';
    printf("{\"error\": \"%s\"}", text);
}

static void show(const struct by_calibrator *method, const struct by_sketch *sketch,
                 const struct by_calib_target *target, const char *words)
{
    struct by_calib_options options;
    struct by_range range;
    struct by_scale scale;
    struct baryon_error err = {.code = 0};
    struct by_arena arena;
    by_arena_init(&arena, 0);
    const bool failed = read_options(method, words, &options, &arena, &err) < 0 ||
                        method->range(sketch, target, &options, &range, &err) < 0 ||
                        by_scale_of_range(&range, target, &scale, &err) < 0;
    by_arena_release(&arena);
    if (failed) {
        show_error(&err);
        return;
    }
    printf("{\"low\": %.17g, \"high\": %.17g, \"zero\": %s, \"scale\": %.17g, \"zero_point\": "
           "%" PRId64 ", \"position\": %d, \"least\": ",
           range.low, range.high, range.constant_zero ? "true" : "false", scale.scale,
           scale.zero_point, scale.position);
    printf(isfinite(range.error) ? "%.17g}" : "null}", range.error);
}

static void show_all(const struct by_sketch *sketch, const struct by_calib_target *target,
                     const char *words, const char *only)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0, shown = 0; i < count; i++) {
        if (methods[i]->suits && !methods[i]->suits(target))
            continue;
        if (strcmp(only, "all") && strcmp(only, methods[i]->name))
            continue;
        printf("%s\"%s\": ", shown++ ? ", " : "{", methods[i]->name);
        show(methods[i], sketch, target, words);
    }
    puts("}");
}

/* The sketch of the files that were named last. */
struct seen {
    struct by_sketch sketch;
    char *files;
};

static void forget(struct seen *seen)
{
    by_sketch_release(&seen->sketch);
    by_sketch_init(&seen->sketch);
    free(seen->files);
    seen->files = NULL;
}

static int look_at_all(struct seen *seen, char *files, struct baryon_error *err)
{
    if (seen->files && !strcmp(seen->files, files))
        return 0;
    forget(seen);
    char *copy = strdup(files), *rest = files;
    int failed = !copy;
    uint64_t samples = 0;
    for (char *path; !failed && (path = strtok_r(NULL, " \n", &rest));)
        failed = look_at(&seen->sketch, path, samples++, err) < 0;
    seen->files = copy;
    if (failed)
        forget(seen);
    return failed ? -1 : 0;
}

static void show_rows(void)
{
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++) {
        const struct by_calib_option_set *set = methods[i]->options;
        printf("%s\"%s\": [", i ? ", " : "{", methods[i]->name);
        for (size_t k = 0; set && k < set->count; k++) {
            const struct by_calib_option *option = &set->rows[k];
            printf("%s\"%s\"", k ? ", " : "", option->row.name);
            if (option->weight_name && (methods[i]->uses & BY_FOR_WEIGHTS))
                printf(", \"%s\"", option->weight_name);
        }
        printf("]");
    }
    puts("}");
}

static void answer(char *line, struct seen *seen)
{
    struct baryon_error err = {.code = 0};
    struct by_calib_target target;
    char *rest, *first = strtok_r(line, " \n", &rest), *second = strtok_r(NULL, " \n", &rest);
    char *method = strtok_r(NULL, " \n", &rest);
    if (!method || !read_target(first, &target)) {
        puts("{\"error\": \"TARGET OPTIONS METHOD FILE...\"}");
    } else if (look_at_all(seen, rest, &err) < 0) {
        show_error(&err);
        puts("");
    } else {
        show_all(&seen->sketch, &target, second, method);
    }
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;
    struct seen seen = {.files = NULL};
    by_sketch_init(&seen.sketch);
    while (getline(&line, &size, stdin) > 0) {
        if (!strcmp(line, "rows\n"))
            show_rows();
        else
            answer(line, &seen);
        fflush(stdout);
    }
    forget(&seen);
    by_sketch_release(&seen.sketch);
    free(line);
    return 0;
}
