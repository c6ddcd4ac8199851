/*
 * Samples from files. What a file holds counts in rows: a sample takes as many as the model's
 * fixed batch, 1 where there is none. So one sample may be a file, a part of one, or several.
 */
#include "base/fault.h"
#include "base/text.h"
#include "input/items.h"
#include "input/part.h"
#include "input/source.h"
#include "input/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NONE SIZE_MAX

struct files {
    struct by_items items;
    const char *path;
    size_t batch;         /* rows a sample takes */
    struct by_port *rows; /* the ports as readers see them: of a batch of 1 */
    size_t *firsts;       /* number of the first row of each item, and after the last */
    struct by_part *parts;
    size_t part_count;
    size_t loaded; /* item that the parts hold */
};

/* Rows of an item: every input has as many, or serves all of them. */
static int count_rows(const struct by_input *input, size_t *rows, struct baryon_error *err)
{
    const struct files *files = input->state;
    size_t by_port = NONE;
    *rows = files->batch;
    for (size_t p = 0; p < files->part_count; p++)
        for (size_t i = 0; i < files->parts[p].ports; i++) {
            const struct by_match *match = &files->parts[p].matches[i];
            const size_t port = files->parts[p].first + i;
            char one[BY_QUOTE_MAX], two[BY_QUOTE_MAX];
            if (!match->framed)
                continue;
            if (by_port != NONE && match->rows != *rows)
                return by_fail(err, BARYON_ERR_INPUT, "input %s has %zu samples, input %s has %zu",
                               by_quote(one, input->ports[by_port].name), *rows,
                               by_quote(two, input->ports[port].name), match->rows);
            *rows = match->rows;
            by_port = port;
        }
    return 0;
}

static void unload(struct files *files)
{
    for (size_t p = 0; p < files->part_count; p++)
        by_part_close(&files->parts[p]);
    files->loaded = NONE;
}

static const char *path_of(const struct files *files, size_t item, size_t part)
{
    return files->items.paths[item * files->items.groups + part];
}

static int load_item(struct by_input *input, size_t item, bool header_only, size_t *rows,
                     struct baryon_error *err)
{
    struct files *files = input->state;
    unload(files);
    for (size_t p = 0; p < files->part_count; p++) {
        struct by_part *part = &files->parts[p];
        const char *path = path_of(files, item, p);
        const struct by_reading reading = {
            .ports = files->rows + part->first,
            .port_count = part->ports,
            .options = &input->options,
            .header_only = header_only,
            .path = path,
            .told = &input->told,
        };
        if (by_part_read(part, &reading, err) < 0)
            return by_err_file(err, path);
    }
    if (count_rows(input, rows, err) < 0)
        return by_err_file(err, path_of(files, item, 0));
    files->loaded = header_only ? NONE : item;
    return 0;
}

static bool is_batched(const struct by_input *input, const struct files *files, size_t port)
{
    return input->ports[port].rank > 0 && input->ports[port].dims[0] == (int64_t)files->batch;
}

/* True when a file may hold several rows, so that its header decides how many. */
static bool may_hold_several(const struct by_input *input, size_t item)
{
    const struct files *files = input->state;
    bool batched = false;
    for (size_t i = 0; i < input->port_count; i++)
        batched |= is_batched(input, files, i);
    for (size_t p = 0; p < files->part_count; p++) {
        const struct by_reader *reader = by_reader_by_name(path_of(files, item, p));
        if (reader && reader->single)
            return false;
    }
    return batched;
}

/*
 * How many rows an item has. What is wrong with a file is told now, unless bad ones
 * may be skipped: then it counts as one row, and by_input_get() judges.
 */
static int count_item(struct by_input *input, size_t item, size_t *rows, struct baryon_error *err)
{
    struct baryon_error problem = {.offset = -1};
    *rows = 1;
    if (!may_hold_several(input, item) || load_item(input, item, true, rows, &problem) == 0)
        return 0;
    *rows = 1;
    if (input->options.skip_bad > 0 && problem.code != BARYON_ERR_NOMEM)
        return 0;
    if (err)
        *err = problem;
    return -1;
}

/* Rows after the last full batch are left out: nobody knows what to fill it up with. */
static int settle_total(struct by_input *input, size_t rows, struct baryon_error *err)
{
    const struct files *files = input->state;
    const size_t limit = input->options.count, all = rows / files->batch;
    input->total = limit && limit < all ? limit : all;
    if (!all) {
        by_fail(err, BARYON_ERR_INPUT, "%zu samples, must be at least the model's batch of %zu",
                rows, files->batch);
        return by_err_file(err, files->path);
    }
    if ((!limit || limit > all) && rows % files->batch)
        by_log(input->options.log, BY_LOG_WARNING,
               "%s: the last %zu of %zu samples skipped, the model has a batch of %zu", files->path,
               rows % files->batch, rows, files->batch);
    if (limit > input->total)
        by_log(input->options.log, BY_LOG_WARNING, "%s: %zu samples, fewer than the requested %zu",
               files->path, input->total, limit);
    return 0;
}

static int count_samples(struct by_input *input, struct baryon_error *err)
{
    struct files *files = input->state;
    const size_t items = files->items.count;
    size_t most = SIZE_MAX;
    if (input->options.count && by_mul_overflow(input->options.count, files->batch, &most))
        most = SIZE_MAX;
    files->firsts = by_arena_alloc(&input->arena, items + 1, sizeof *files->firsts, err);
    if (!files->firsts)
        return -1;
    for (size_t i = 0; i < items; i++) {
        size_t rows = 1;
        if (files->firsts[i] < most && count_item(input, i, &rows, err) < 0)
            return -1;
        if (by_add_overflow(files->firsts[i], rows, &files->firsts[i + 1]))
            return by_err_nomem(err, SIZE_MAX);
    }
    unload(files);
    return settle_total(input, files->firsts[items], err);
}

/*
 * The model's fixed batch: what dimension 0 of its inputs is. An input of rank 3 that takes
 * pictures has channels there, one of rank 1 alone a list of values.
 */
static size_t find_batch(const struct by_input *input, const struct files *files)
{
    const struct by_reader *reader = by_reader_by_name(path_of(files, 0, 0));
    size_t batch = 1;
    for (size_t i = 0; i < input->port_count; i++) {
        const struct by_port *port = &input->ports[i];
        if (port->rank > 0 && port->dims[0] == 1)
            return 1;
        if (batch == 1 && port->rank > 1 && port->dims[0] > 1 &&
            (reader != &by_read_image || port->rank == 4))
            batch = (size_t)port->dims[0];
    }
    return batch;
}

static int set_rows(struct by_input *input, struct files *files, struct baryon_error *err)
{
    files->batch = find_batch(input, files);
    files->rows = by_arena_alloc(&input->arena, input->port_count, sizeof *files->rows, err);
    if (!files->rows)
        return -1;
    for (size_t i = 0; i < input->port_count; i++) {
        const struct by_port *port = &input->ports[i];
        files->rows[i] = *port;
        if (!is_batched(input, files, i))
            continue;
        int64_t *dims = by_arena_alloc(&input->arena, port->rank, sizeof *dims, err);
        if (!dims)
            return -1;
        memcpy(dims, port->dims, port->rank * sizeof *dims);
        dims[0] = 1;
        files->rows[i].dims = dims;
    }
    return 0;
}

static int open_parts(struct by_input *input, struct baryon_error *err)
{
    struct files *files = input->state;
    const size_t count = files->items.groups;
    files->parts = by_arena_alloc(&input->arena, count, sizeof *files->parts, err);
    if (!files->parts)
        return -1;
    files->part_count = count;
    for (size_t p = 0; p < count; p++) {
        struct by_part *part = &files->parts[p];
        part->first = p;
        part->ports = count == 1 ? input->port_count : 1;
        part->wanted = input->ports + p;
        part->batch = files->batch;
        by_arena_init(&part->arena, 0);
        part->matches = by_arena_alloc(&input->arena, part->ports, sizeof *part->matches, err);
        if (!part->matches)
            return -1;
    }
    return 0;
}

/* Settings that cannot work are told before the first sample, as far as names show the kind. */
static int check_readers(const struct by_input *input, struct baryon_error *err)
{
    const struct files *files = input->state;
    for (size_t p = 0; p < files->part_count; p++) {
        const struct by_reader *reader = by_reader_by_name(path_of(files, 0, p));
        if (reader && reader->check &&
            reader->check(files->rows + files->parts[p].first, files->parts[p].ports,
                          &input->options, err) < 0)
            return -1;
    }
    return 0;
}

/* The item that holds a row: the last one that begins at or before it. */
static size_t find_item(const struct files *files, size_t row)
{
    size_t low = 0, high = files->items.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (files->firsts[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int ensure_loaded(struct by_input *input, size_t item, struct baryon_error *err)
{
    struct files *files = input->state;
    const size_t expected = files->firsts[item + 1] - files->firsts[item];
    size_t rows = 0;
    if (files->loaded == item)
        return 0;
    if (load_item(input, item, false, &rows, err) < 0)
        return -1;
    if (rows == expected)
        return 0;
    unload(files);
    by_fail(err, BARYON_ERR_CHANGED,
            "the file has %zu samples, but had %zu when it was opened first", rows, expected);
    return by_err_file(err, path_of(files, item, 0));
}

/* A piece of a sample: rows of one item, which go to the place `at` of the batch. */
struct piece {
    size_t item, at;
    struct by_match_rows rows;
};

static bool any_framed(const struct files *files)
{
    bool framed = false;
    for (size_t p = 0; p < files->part_count; p++)
        for (size_t i = 0; i < files->parts[p].ports; i++)
            framed |= files->parts[p].matches[i].framed;
    return framed;
}

/* Arrays that serve every sample of an item are a batch already. */
static int take_piece(struct by_input *input, const struct piece *piece, struct by_arena *arena,
                      struct by_array *arrays, struct baryon_error *err)
{
    const struct files *files = input->state;
    const size_t in_item = files->firsts[piece->item + 1] - files->firsts[piece->item];
    const bool framed = any_framed(files);
    char quoted[BY_QUOTE_MAX], which[40] = "";
    for (size_t p = 0; p < files->part_count; p++)
        for (size_t i = 0; i < files->parts[p].ports; i++) {
            const size_t port = files->parts[p].first + i;
            const struct by_match *match = &files->parts[p].matches[i];
            struct by_match_rows rows = piece->rows;
            if (framed && !match->framed)
                rows.first = piece->at;
            if (by_match_take(match, &input->ports[port], &rows, input->options.allow_nonfinite,
                              arena, &arrays[port], err) == 0) {
                by_tell_conversion(input, port, match->stored->elem);
                continue;
            }
            if (in_item > files->batch)
                snprintf(which, sizeof which, "sample %zu, ", piece->rows.first / files->batch);
            by_err_in(err, "%sinput %s", which, by_quote(quoted, input->ports[port].name));
            return by_err_file(err, path_of(files, piece->item, p));
        }
    return 0;
}

/* The rows from `row` + piece->at on that lie in one item. */
static void find_piece(const struct files *files, size_t row, struct piece *piece)
{
    const size_t from = row + piece->at;
    piece->item = find_item(files, from);
    const size_t left = files->firsts[piece->item + 1] - from, lacking = files->batch - piece->at;
    piece->rows.first = from - files->firsts[piece->item];
    piece->rows.count = left < lacking ? left : lacking;
}

static int add_piece(struct by_input *input, const struct piece *piece, struct by_stack *stack,
                     struct by_arena *arena, struct baryon_error *err)
{
    const struct files *files = input->state;
    struct by_array *arrays = by_arena_alloc(arena, input->port_count, sizeof *arrays, err);
    if (!arrays || ensure_loaded(input, piece->item, err) < 0 ||
        take_piece(input, piece, arena, arrays, err) < 0)
        return -1;
    if (by_stack_add(stack, arrays, piece->rows.count, err) < 0)
        return by_err_file(err, path_of(files, piece->item, 0));
    return 0;
}

/* The rows of one sample out of several items. */
static int fill_from_several(struct by_input *input, size_t row, struct by_sample *sample,
                             struct baryon_error *err)
{
    const struct files *files = input->state;
    struct by_stack stack = {.ports = input->ports,
                             .arrays = sample->arrays,
                             .count = input->port_count,
                             .batch = files->batch,
                             .arena = &sample->arena};
    struct by_arena arena;
    struct piece piece = {0};
    int status = 0;
    by_arena_init(&arena, 0);
    for (; piece.at < files->batch && status == 0; piece.at += piece.rows.count) {
        find_piece(files, row, &piece);
        status = add_piece(input, &piece, &stack, &arena, err);
        by_arena_release(&arena);
    }
    return status;
}

/* A sample is named after its first row: "FILE", or "FILE-ROW" where a file has several. */
static void set_name(const struct files *files, size_t row, struct by_sample *sample)
{
    struct by_text text;
    const size_t item = find_item(files, row), place = row - files->firsts[item];
    const size_t rows = files->firsts[item + 1] - files->firsts[item];
    const bool alone = rows == 1 || (place == 0 && rows == files->batch);
    const char *name = by_basename(path_of(files, item, 0));
    by_text_init(&text, sample->name, sizeof sample->name);
    by_text_add(&text, "%.*s", (int)by_stem_length(name), name);
    if (!alone)
        by_text_add(&text, "-%zu", place);
}

static enum by_filled fill_from_files(struct by_input *input, size_t index,
                                      struct by_sample *sample, struct baryon_error *err)
{
    const struct files *files = input->state;
    const size_t row = index * files->batch, item = find_item(files, row);
    set_name(files, row, sample);
    if (row + files->batch > files->firsts[item + 1])
        return fill_from_several(input, row, sample, err) < 0 ? BY_FILLED_BAD : BY_FILLED;
    const struct piece all = {.item = item, .rows = {row - files->firsts[item], files->batch}};
    if (ensure_loaded(input, item, err) < 0 ||
        take_piece(input, &all, &sample->arena, sample->arrays, err) < 0)
        return BY_FILLED_BAD;
    return BY_FILLED;
}

static void describe(const struct by_input *input, struct by_text *text)
{
    const struct files *files = input->state;
    const struct by_reader *reader = by_reader_by_name(path_of(files, 0, 0));
    by_text_add(text, "%s", reader ? reader->name : "files");
    if (reader == &by_read_image && input->port_count == 1) {
        char formula[512];
        by_prep_describe(&input->options.prep, files->rows, formula, sizeof formula);
        by_text_add(text, ": %s", formula);
    }
    if (files->batch > 1)
        by_text_add(text, ", %zu at a time", files->batch);
}

/* Of a file that is not to be had; anything else may be otherwise the next time. */
static bool is_lasting(int code)
{
    return code == ENOENT || code == ENOTDIR || code == EACCES || code == ELOOP ||
           code == ENAMETOOLONG;
}

/* A file that is gone has no size; reading it tells. */
static int find_size(const char *path, uint64_t *size, struct baryon_error *err)
{
    struct stat status;
    *size = UINT64_MAX;
    if (!by_fault(BY_FAULT_IO) && stat(path, &status) == 0)
        *size = (uint64_t)status.st_size;
    else if (!is_lasting(errno)) {
        by_fail_errno(err, BARYON_ERR_IO, "its size cannot be determined");
        return by_err_file(err, path);
    }
    return 0;
}

static int identify(const struct by_input *input, struct by_hasher *hasher,
                    struct baryon_error *err)
{
    uint64_t size;
    const struct files *files = input->state;
    by_hasher_text(hasher, "files");
    by_hasher_number(hasher, files->batch);
    by_hasher_number(hasher, files->items.groups);
    by_prep_identify(&input->options.prep, hasher);
    for (size_t i = 0; files->firsts[i] < input->total * files->batch; i++) {
        by_hasher_number(hasher, files->firsts[i + 1] - files->firsts[i]);
        for (size_t group = 0; group < files->items.groups; group++) {
            by_hasher_text(hasher, by_basename(path_of(files, i, group)));
            if (find_size(path_of(files, i, group), &size, err) < 0)
                return -1;
            by_hasher_number(hasher, size);
        }
    }
    return 0;
}

static void close_files(struct by_input *input)
{
    struct files *files = input->state;
    unload(files);
}

static const struct by_source source = {
    .fill = fill_from_files, .describe = describe, .identify = identify, .close = close_files};

int by_files_open(struct by_input *input, const char *path, struct baryon_error *err)
{
    struct files *files = BY_ARENA_NEW(&input->arena, struct files, err);
    if (!files)
        return -1;
    files->loaded = NONE;
    files->path = path;
    input->state = files;
    input->source = &source;
    if (by_items_find(&input->arena, path, input->ports, input->port_count, input->options.log,
                      &files->items, err) < 0 ||
        set_rows(input, files, err) < 0 || open_parts(input, err) < 0 ||
        check_readers(input, err) < 0 || count_samples(input, err) < 0)
        return -1;
    return 0;
}
