/* A source of samples: its files, which of them holds sample N, and that sample. */
#include "input/input.h"

#include "base/text.h"
#include "input/items.h"
#include "input/match.h"
#include "input/part.h"
#include "input/ports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NONE SIZE_MAX

struct by_input {
    struct by_arena arena;
    struct by_input_options options;
    struct by_port *ports;
    size_t port_count;
    struct by_items items;
    size_t *firsts; /* number of the first sample of each item, and behind the last */
    bool *bad;      /* items that were skipped */
    size_t total, skipped, allowed;
    struct by_part *parts;
    size_t part_count;
    size_t loaded; /* item that the parts hold */
    struct by_arena sample;
    struct by_array *arrays;
    unsigned told;
    bool *told_convert; /* a notice was given for the port */
    char name[300];
};

/* Samples of an item: every input has as many, or serves all of them. */
static int count_frames(const struct by_input *input, size_t *frames, struct baryon_error *err)
{
    size_t by_port = 0;
    *frames = 1;
    for (size_t p = 0; p < input->part_count; p++)
        for (size_t i = 0; i < input->parts[p].ports; i++) {
            const struct by_match *match = &input->parts[p].matches[i];
            const size_t port = input->parts[p].first + i;
            char one[BY_QUOTE_MAX], two[BY_QUOTE_MAX];
            if (!match->framed)
                continue;
            if (*frames > 1 && match->frames != *frames)
                return by_fail(err, BARYON_ERR_INPUT, "input %s has %zu samples, input %s has %zu",
                               by_quote(one, input->ports[by_port].name), *frames,
                               by_quote(two, input->ports[port].name), match->frames);
            *frames = match->frames;
            by_port = port;
        }
    return 0;
}

static void unload(struct by_input *input)
{
    for (size_t p = 0; p < input->part_count; p++)
        by_part_close(&input->parts[p]);
    input->loaded = NONE;
}

static const char *path_of(const struct by_input *input, size_t item, size_t part)
{
    return input->items.paths[item * input->items.groups + part];
}

static int load(struct by_input *input, size_t item, bool header_only, size_t *frames,
                struct baryon_error *err)
{
    unload(input);
    for (size_t p = 0; p < input->part_count; p++) {
        struct by_part *part = &input->parts[p];
        const char *path = path_of(input, item, p);
        const struct by_reading reading = {
            .ports = input->ports + part->first,
            .port_count = part->ports,
            .options = &input->options,
            .header_only = header_only,
            .path = path,
            .told = &input->told,
        };
        if (by_part_read(part, &reading, err) < 0)
            return by_err_file(err, path);
    }
    if (count_frames(input, frames, err) < 0)
        return by_err_file(err, path_of(input, item, 0));
    input->loaded = header_only ? NONE : item;
    return 0;
}

/* True when a file may hold several samples, so that its header decides how many. */
static bool may_stack(const struct by_input *input, size_t item)
{
    bool stacks = false;
    for (size_t i = 0; i < input->port_count; i++)
        stacks |= input->ports[i].rank > 0 && input->ports[i].dims[0] == 1;
    for (size_t p = 0; p < input->part_count; p++) {
        const struct by_reader *reader = by_reader_by_name(path_of(input, item, p));
        if (reader && reader->single)
            return false;
    }
    return stacks;
}

/*
 * How many samples an item has. What is wrong with a file is told now, unless bad ones
 * may be skipped: then it counts as one sample, and by_input_get() judges.
 */
static int count_item(struct by_input *input, size_t item, size_t *frames, struct baryon_error *err)
{
    struct baryon_error problem = {.offset = -1};
    *frames = 1;
    if (!may_stack(input, item) || load(input, item, true, frames, &problem) == 0)
        return 0;
    *frames = 1;
    if (input->options.skip_bad > 0 && problem.code != BARYON_ERR_NOMEM)
        return 0;
    if (err)
        *err = problem;
    return -1;
}

static int count_samples(struct by_input *input, struct baryon_error *err)
{
    const size_t most = input->options.count ? input->options.count : SIZE_MAX;
    const size_t items = input->items.count;
    input->firsts = by_arena_alloc(&input->arena, items + 1, sizeof *input->firsts, err);
    input->bad = by_arena_alloc(&input->arena, items, sizeof *input->bad, err);
    if (!input->firsts || !input->bad)
        return -1;
    for (size_t i = 0; i < items; i++) {
        size_t frames = 1;
        if (input->firsts[i] < most && count_item(input, i, &frames, err) < 0)
            return -1;
        if (by_add_overflow(input->firsts[i], frames, &input->firsts[i + 1]))
            return by_err_nomem(err, SIZE_MAX);
    }
    unload(input);
    const size_t all = input->firsts[items];
    input->total = all < most ? all : most;
    return 0;
}

static int open_parts(struct by_input *input, struct baryon_error *err)
{
    input->part_count = input->items.groups;
    input->parts = by_arena_alloc(&input->arena, input->part_count, sizeof *input->parts, err);
    if (!input->parts)
        return -1;
    for (size_t p = 0; p < input->part_count; p++) {
        struct by_part *part = &input->parts[p];
        part->first = p;
        part->ports = input->items.groups == 1 ? input->port_count : 1;
        by_arena_init(&part->arena, 0);
        part->matches = by_arena_alloc(&input->arena, part->ports, sizeof *part->matches, err);
        if (!part->matches)
            return -1;
    }
    return 0;
}

/* Settings that cannot work are told before the first sample, as far as names show the kind. */
static int check_readers(struct by_input *input, struct baryon_error *err)
{
    for (size_t p = 0; p < input->part_count; p++) {
        const struct by_reader *reader = by_reader_by_name(path_of(input, 0, p));
        if (reader && reader->check &&
            reader->check(input->ports + input->parts[p].first, input->parts[p].ports,
                          &input->options, err) < 0)
            return -1;
    }
    return 0;
}

static int open_files(struct by_input *input, const char *path, struct baryon_error *err)
{
    const struct by_input_options *options = &input->options;
    if (by_items_find(&input->arena, path, input->ports, input->port_count, options->log,
                      &input->items, err) < 0 ||
        open_parts(input, err) < 0 || check_readers(input, err) < 0 ||
        count_samples(input, err) < 0)
        return -1;
    if (options->count > input->total)
        by_log(options->log, BY_LOG_WARNING, "%s: %zu samples, fewer than the %zu asked for", path,
               input->total, options->count);
    input->allowed = (size_t)(options->skip_bad * (double)input->total);
    return 0;
}

static int open_random(struct by_input *input, struct baryon_error *err)
{
    const struct by_input_options *options = &input->options;
    if (!options->count)
        return by_fail(err, BARYON_ERR_USAGE, "0 random samples, there must be 1 at least");
    if (by_random_check(input->ports, input->port_count, options, err) < 0)
        return -1;
    by_random_notice(input->ports, input->port_count, options);
    input->total = options->count;
    return 0;
}

static int open_source(struct by_input *input, const char *path, const struct by_port *ports,
                       struct baryon_error *err)
{
    if (!input->port_count)
        return by_fail(err, BARYON_ERR_INPUT, "the model has no inputs that samples could serve");
    if (by_ports_resolve(&input->arena, ports, input->port_count, &input->options, &input->ports,
                         err) < 0)
        return -1;
    input->arrays = by_arena_alloc(&input->arena, input->port_count, sizeof *input->arrays, err);
    input->told_convert =
        by_arena_alloc(&input->arena, input->port_count, sizeof *input->told_convert, err);
    if (!input->arrays || !input->told_convert)
        return -1;
    return input->options.random ? open_random(input, err) : open_files(input, path, err);
}

int by_input_open(struct by_input **out, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_input_options *options,
                  struct baryon_error *err)
{
    *out = NULL;
    if (!options->random && !path)
        return by_fail(err, BARYON_ERR_USAGE, "neither a path to samples nor random ones");
    struct by_input *input = by_alloc_zero(1, sizeof *input, err);
    if (!input)
        return -1;
    input->options = *options;
    input->port_count = port_count;
    input->loaded = NONE;
    by_arena_init(&input->arena, 0);
    by_arena_init(&input->sample, 0);
    if (open_source(input, path, ports, err) < 0) {
        by_input_close(input);
        return -1;
    }
    *out = input;
    return 0;
}

void by_input_close(struct by_input *input)
{
    if (!input)
        return;
    for (size_t p = 0; input->parts && p < input->part_count; p++)
        by_part_close(&input->parts[p]);
    by_arena_release(&input->sample);
    by_arena_release(&input->arena);
    by_free(input);
}

size_t by_input_count(const struct by_input *input)
{
    return input->total;
}

size_t by_input_skipped(const struct by_input *input)
{
    return input->skipped;
}

/* The item that holds a sample: the last one that begins at or before it. */
static size_t find_item(const struct by_input *input, size_t index)
{
    size_t low = 0, high = input->items.count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (input->firsts[middle] <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void tell_conversion(struct by_input *input, size_t port, int64_t from)
{
    char quoted[BY_QUOTE_MAX];
    if (from == input->ports[port].elem || input->told_convert[port])
        return;
    input->told_convert[port] = true;
    by_log(input->options.log, BY_LOG_NOTICE, "input %s: %s values are converted to %s",
           by_quote(quoted, input->ports[port].name), by_elem_name(from),
           by_elem_name(input->ports[port].elem));
}

static int fill_sample(struct by_input *input, size_t item, size_t frame, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], which[40] = "";
    const bool several = input->firsts[item + 1] - input->firsts[item] > 1;
    for (size_t p = 0; p < input->part_count; p++)
        for (size_t i = 0; i < input->parts[p].ports; i++) {
            const size_t port = input->parts[p].first + i;
            const struct by_match *match = &input->parts[p].matches[i];
            if (by_match_take(match, &input->ports[port], frame, input->options.allow_nonfinite,
                              &input->sample, &input->arrays[port], err) == 0) {
                tell_conversion(input, port, match->stored->elem);
                continue;
            }
            if (several)
                snprintf(which, sizeof which, "sample %zu, ", frame);
            by_err_in(err, "%sinput %s", which, by_quote(quoted, input->ports[port].name));
            return by_err_file(err, path_of(input, item, p));
        }
    return 0;
}

static void set_name(struct by_input *input, size_t item, size_t frame)
{
    struct by_text text;
    const char *name = by_basename(path_of(input, item, 0));
    by_text_init(&text, input->name, sizeof input->name);
    by_text_add(&text, "%.*s", (int)by_stem_length(name), name);
    if (input->firsts[item + 1] - input->firsts[item] > 1)
        by_text_add(&text, "-%zu", frame);
}

static int get_from_file(struct by_input *input, size_t item, size_t frame,
                         struct baryon_error *err)
{
    size_t frames = 0;
    set_name(input, item, frame);
    if (input->loaded != item) {
        if (load(input, item, false, &frames, err) < 0)
            return -1;
        const size_t expected = input->firsts[item + 1] - input->firsts[item];
        if (frames != expected) {
            unload(input);
            by_fail(err, BARYON_ERR_CHANGED,
                    "it holds %zu samples, but %zu when it was looked at "
                    "first",
                    frames, expected);
            return by_err_file(err, path_of(input, item, 0));
        }
    }
    return fill_sample(input, item, frame, err);
}

static bool is_about_sample(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_INPUT || err->code == BARYON_ERR_UNSUPPORTED ||
           err->code == BARYON_ERR_IO || err->code == BARYON_ERR_CHANGED;
}

/* A bad sample is let pass as long as there are not too many; once a file is bad it stays so. */
static int skip_or_fail(struct by_input *input, size_t item, struct baryon_error *problem,
                        struct baryon_error *err)
{
    char text[1024];
    if (is_about_sample(problem) && (input->bad[item] || input->skipped < input->allowed)) {
        baryon_error_format(problem, text, sizeof text);
        if (!input->bad[item])
            by_log(input->options.log, BY_LOG_WARNING, "skipped: %s", text);
        input->skipped += !input->bad[item];
        input->bad[item] = true;
        return 0;
    }
    if (input->options.skip_bad > 0 && is_about_sample(problem))
        by_err_hint(problem, "bad samples skipped before: %zu, more are not allowed",
                    input->skipped);
    if (err)
        *err = *problem;
    return -1;
}

int by_input_get(struct by_input *input, size_t index, const struct by_array **arrays,
                 const char **name, struct baryon_error *err)
{
    struct baryon_error problem = {.offset = -1};
    by_arena_release(&input->sample);
    *arrays = NULL;
    if (name)
        *name = input->name;
    if (index >= input->total)
        return by_fail(err, BARYON_ERR_INTERNAL, "sample %zu of %zu", index, input->total);
    if (input->options.random) {
        snprintf(input->name, sizeof input->name, "random-%zu", index);
        if (by_random_fill(&input->sample, input->ports, input->port_count, &input->options, index,
                           input->arrays, err) < 0)
            return -1;
        *arrays = input->arrays;
        return 0;
    }
    const size_t item = find_item(input, index);
    if (get_from_file(input, item, index - input->firsts[item], &problem) < 0)
        return skip_or_fail(input, item, &problem, err);
    *arrays = input->arrays;
    return 0;
}

void by_input_describe(const struct by_input *input, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    if (input->options.random) {
        by_text_add(&text, "random values, seed %" PRIu64, input->options.seed);
        return;
    }
    const struct by_reader *reader = by_reader_by_name(path_of(input, 0, 0));
    by_text_add(&text, "%s", reader ? reader->name : "files");
    if (reader != &by_read_image || input->port_count != 1)
        return;
    char formula[512];
    by_prep_describe(&input->options.prep, input->ports, formula, sizeof formula);
    by_text_add(&text, ": %s", formula);
}
