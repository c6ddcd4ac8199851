/* Returns samples by number from any source, and skips or refuses bad ones. */
#include "input/input.h"

#include "base/format.h"
#include "base/text.h"
#include "input/ports.h"
#include "input/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static enum by_filled fill_random(struct by_input *input, size_t index, struct by_sample *sample,
                                  struct baryon_error *err)
{
    snprintf(sample->name, sizeof sample->name, "random-%zu", index);
    return by_random_fill(&sample->arena, input->ports, input->port_count, &input->options, index,
                          sample->arrays, err) < 0
               ? BY_FILLED_BROKEN
               : BY_FILLED;
}

static void describe_random(const struct by_input *input, struct by_text *text)
{
    by_text_add(text, "random values, seed %" PRIu64, input->options.seed);
}

static int identify_random(const struct by_input *input, struct by_hasher *hasher,
                           struct baryon_error *err)
{
    (void)err;
    const struct by_input_options *options = &input->options;
    by_hasher_text(hasher, "random");
    by_hasher_number(hasher, options->seed);
    by_hasher_number(hasher, options->int_range_set);
    by_hasher_number(hasher, (uint64_t)options->int_low);
    by_hasher_number(hasher, (uint64_t)options->int_high);
    for (size_t i = 0; i < options->range_count; i++) {
        char text[64];
        by_format(text, sizeof text, "%.17g:%.17g", options->ranges[i].low,
                  options->ranges[i].high);
        by_hasher_text(hasher, options->ranges[i].input);
        by_hasher_text(hasher, text);
    }
    return 0;
}

static const struct by_source random_source = {
    .fill = fill_random, .describe = describe_random, .identify = identify_random};

static int open_random(struct by_input *input, struct baryon_error *err)
{
    const struct by_input_options *options = &input->options;
    if (!options->count)
        return by_fail(err, BARYON_ERR_USAGE, "0 random samples, must be at least 1");
    if (by_random_check(input->ports, input->port_count, options, err) < 0)
        return -1;
    by_random_notice(input->ports, input->port_count, options);
    input->source = &random_source;
    input->total = options->count;
    return 0;
}

/* What every source needs; the caller closes the input when it fails. */
static int open_common(struct by_input **out, const struct by_port *ports, size_t port_count,
                       const struct by_input_options *options, struct baryon_error *err)
{
    struct by_input *input = by_alloc_zero(1, sizeof *input, err);
    *out = input;
    if (!input)
        return -1;
    input->options = *options;
    input->port_count = port_count;
    by_arena_init(&input->arena, 0);
    by_sample_init(&input->sample);
    if (!port_count)
        return by_fail(err, BARYON_ERR_INPUT, "the model has no inputs that take samples");
    if (by_ports_resolve(&input->arena, ports, port_count, options, &input->ports, err) < 0)
        return -1;
    input->told_convert =
        by_arena_alloc(&input->arena, port_count, sizeof *input->told_convert, err);
    return input->told_convert ? 0 : -1;
}

static int close_failed(struct by_input **input)
{
    by_input_close(*input);
    *input = NULL;
    return -1;
}

int by_input_open(struct by_input **input, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_input_options *options,
                  struct baryon_error *err)
{
    *input = NULL;
    if (!options->random && !path)
        return by_fail(err, BARYON_ERR_USAGE, "no samples: give a path or random samples");
    if (open_common(input, ports, port_count, options, err) < 0 ||
        (options->random ? open_random(*input, err) : by_files_open(*input, path, err)) < 0)
        return close_failed(input);
    return 0;
}

int by_input_open_callback(struct by_input **input, const struct by_input_callback *callback,
                           const struct by_port *ports, size_t port_count,
                           const struct by_input_options *options, struct baryon_error *err)
{
    if (open_common(input, ports, port_count, options, err) < 0 ||
        by_callback_open(*input, callback, err) < 0)
        return close_failed(input);
    return 0;
}

int by_input_open_for(struct by_input **input, const struct by_session *session,
                      const struct by_input_callback *callback, const char *path,
                      const struct by_input_options *options, struct baryon_error *err)
{
    size_t count;
    const struct by_port *ports = by_session_inputs(session, &count);
    if (callback)
        return by_input_open_callback(input, callback, ports, count, options, err);
    return by_input_open(input, path, ports, count, options, err);
}

void by_input_close(struct by_input *input)
{
    if (!input)
        return;
    if (input->source && input->source->close)
        input->source->close(input);
    by_free(input->bad);
    by_sample_release(&input->sample);
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

const struct by_log *by_input_set_log(struct by_input *input, const struct by_log *log)
{
    const struct by_log *before = input->options.log;
    input->options.log = log;
    return before;
}

void by_tell_conversion(struct by_input *input, size_t port, int64_t from)
{
    char quoted[BY_QUOTE_MAX];
    if (from == input->ports[port].elem || input->told_convert[port])
        return;
    input->told_convert[port] = true;
    by_log(input->options.log, BY_LOG_NOTICE, "input %s: %s values are converted to %s",
           by_quote(quoted, input->ports[port].name), by_elem_name(from),
           by_elem_name(input->ports[port].elem));
}

static bool is_bad(const struct by_input *input, size_t index)
{
    return index / 8 < input->bad_size && (input->bad[index / 8] >> index % 8 & 1);
}

static int mark_bad(struct by_input *input, size_t index, struct baryon_error *err)
{
    if (index / 8 >= input->bad_size) {
        const size_t size = index / 8 + 1 + input->bad_size;
        uint8_t *bad = by_realloc(input->bad, size, 1, err);
        if (!bad)
            return -1;
        memset(bad + input->bad_size, 0, size - input->bad_size);
        input->bad = bad;
        input->bad_size = size;
    }
    input->bad[index / 8] |= (uint8_t)(1u << index % 8);
    input->skipped++;
    return 0;
}

/* How many may be skipped. While the number of samples is not known, that is judged at the end. */
static size_t allowed(const struct by_input *input)
{
    if (input->options.skip_bad > 0 && input->total == BY_COUNT_UNKNOWN)
        return SIZE_MAX;
    return (size_t)(input->options.skip_bad * (double)input->total);
}

static bool is_about_sample(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_INPUT || err->code == BARYON_ERR_UNSUPPORTED ||
           err->code == BARYON_ERR_IO || err->code == BARYON_ERR_CHANGED;
}

/* A bad sample is let pass as long as there are not too many; once it is bad it stays so. */
static int skip_or_fail(struct by_input *input, size_t index, struct baryon_error *problem,
                        struct by_sample *sample, struct baryon_error *err)
{
    char text[1024];
    const bool known = is_bad(input, index);
    if (is_about_sample(problem) && (known || input->skipped < allowed(input))) {
        baryon_error_format(problem, text, sizeof text);
        if (!known)
            by_log(input->options.log, BY_LOG_WARNING, "skipped: %s", text);
        problem->file[0] = '\0';
        baryon_error_format(problem, sample->reason, sizeof sample->reason);
        return known ? 0 : mark_bad(input, index, err);
    }
    if (input->options.skip_bad > 0 && is_about_sample(problem))
        by_err_hint(problem, "bad samples skipped so far: %zu, --skip-bad allows no more",
                    input->skipped);
    if (err)
        *err = *problem;
    return -1;
}

static int judge_end(const struct by_input *input, struct baryon_error *err)
{
    if (!input->total)
        return by_fail(err, BARYON_ERR_INPUT, "the source of samples is empty");
    if (input->skipped <= allowed(input))
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "%zu of %zu samples were bad, at most %zu may be skipped",
                   input->skipped, input->total, allowed(input));
}

int by_input_get_into(struct by_input *input, size_t index, struct by_sample *sample,
                      struct baryon_error *err)
{
    struct baryon_error problem = {.offset = -1};
    by_sample_release(sample);
    if (index >= input->total)
        return by_fail(err, BARYON_ERR_INTERNAL, "sample %zu of %zu", index, input->total);
    struct by_array *arrays =
        by_arena_alloc(&sample->arena, input->port_count, sizeof *arrays, err);
    if (!arrays)
        return -1;
    sample->arrays = arrays;
    const enum by_filled filled = input->source->fill(input, index, sample, &problem);
    if (filled == BY_FILLED)
        return 0;
    sample->arrays = NULL;
    if (filled == BY_FILLED_END)
        return judge_end(input, err);
    if (filled == BY_FILLED_BAD)
        return skip_or_fail(input, index, &problem, sample, err);
    if (err)
        *err = problem;
    return -1;
}

int by_input_get(struct by_input *input, size_t index, const struct by_array **arrays,
                 const char **name, struct baryon_error *err)
{
    const int status = by_input_get_into(input, index, &input->sample, err);
    *arrays = input->sample.arrays;
    if (name)
        *name = input->sample.name;
    return status;
}

int by_input_find_count(struct by_input *input, struct baryon_error *err)
{
    const struct by_array *arrays;
    for (size_t i = 0; input->total == BY_COUNT_UNKNOWN; i++)
        if (by_input_get(input, i, &arrays, NULL, err) < 0)
            return -1;
    return 0;
}

void by_sample_init(struct by_sample *sample)
{
    *sample = (struct by_sample){0};
    by_arena_init(&sample->arena, 0);
}

void by_sample_release(struct by_sample *sample)
{
    by_arena_release(&sample->arena);
    sample->arrays = NULL;
    sample->name[0] = '\0';
    sample->reason[0] = '\0';
}

static void identify_port(const struct by_port *port, struct by_hasher *hasher)
{
    by_hasher_text(hasher, port->name);
    by_hasher_number(hasher, (uint64_t)port->elem);
    by_hasher_number(hasher, port->rank);
    for (size_t i = 0; i < port->rank; i++)
        by_hasher_number(hasher, (uint64_t)port->dims[i]);
}

int by_input_identify(const struct by_input *input, struct by_hasher *hasher,
                      struct baryon_error *err)
{
    by_hasher_number(hasher, input->total);
    by_hasher_number(hasher, input->port_count);
    for (size_t i = 0; i < input->port_count; i++)
        identify_port(&input->ports[i], hasher);
    return input->source->identify(input, hasher, err);
}

void by_input_describe(const struct by_input *input, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    input->source->describe(input, &text);
}
