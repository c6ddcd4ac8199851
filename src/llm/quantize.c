/* Quantizes a checkpoint: plan, tensors in the order of the source, config.json, other files. */
#include "llm/quantize.h"

#include "base/file.h"
#include "base/str.h"
#include "base/thread.h"
#include "llm/calibrated.h"
#include "llm/layout/fields.h"
#include "llm/output.h"
#include "llm/ranges.h"
#include "llm/rotate.h"
#include "llm/rotate_online.h"
#include "llm/scaling.h"

#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 30)

struct job {
    const struct by_llm_quantize_options *options;
    struct by_log *log;
    struct by_llm_opened opened;
    struct by_llm_plan plan;
    struct by_llm_output output;
    struct by_arena arena;
    struct by_pool *pool;
    struct by_llm_quantized *result;
    struct by_llm_rotated *rotated;
    struct by_llm_rotated_inputs *inputs;
    struct by_llm_scaled *scaled;
    struct by_llm_calibrated calibrated; /* of a method that solves */
};

static bool solves(const struct by_llm_quantize_options *options)
{
    return options->solver.method && options->solver.method->solves;
}

/* --- Declarations --- */

static bool is_copied(const struct by_llm_weight *weight)
{
    return weight->as == BY_LLM_AS_FLOATS || weight->as == BY_LLM_AS_OTHER;
}

/* The module that a layer is in. */
static const char *module_of(struct job *job, const char *layer, struct baryon_error *err)
{
    const char *dot = strrchr(layer, '.');
    return by_arena_text(&job->arena, layer, dot ? (size_t)(dot - layer) : 0, err);
}

static int declare_item(struct job *job, const struct by_llm_item *item, struct baryon_error *err)
{
    const struct by_llm_weight *weight = item->weight;
    if (!item->scheme)
        return by_llm_output_declare(&job->output, &job->arena, weight->name, NULL,
                                     by_llm_source_elem(weight), weight->rank, weight->dims, err);
    for (size_t i = 0; i < item->fields.count; i++) {
        const struct by_llm_field *field = &item->fields.at[i];
        const char *layer = field->beside ? module_of(job, weight->layer, err) : weight->layer;
        if (!layer || by_llm_output_declare(&job->output, &job->arena, layer, field->suffix,
                                            field->elem, field->rank, field->dims, err))
            return -1;
    }
    return 0;
}

static int declare_all(struct job *job, struct baryon_error *err)
{
    size_t count = by_llm_rotated_tensors(job->inputs);
    for (size_t i = 0; i < job->plan.count; i++)
        count += job->plan.items[i].scheme ? job->plan.items[i].fields.count : 1;
    job->output.tensors = by_arena_alloc(&job->arena, count, sizeof *job->output.tensors, err);
    if (!job->output.tensors)
        return -1;
    for (size_t i = 0; i < job->plan.count; i++)
        if (declare_item(job, &job->plan.items[i], err))
            return -1;
    return by_llm_rotated_declare(job->inputs, &job->output, &job->arena, err);
}

/* --- Tensors --- */

static bool is_there(const struct job *job, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!by_safetensors_has(job->output.writer, first + i))
            return false;
    return true;
}

struct place {
    struct by_llm_output *output;
    size_t first;
};

static int put_bytes(void *context, size_t field, uint64_t at, const void *bytes, size_t size,
                     struct baryon_error *err)
{
    const struct place *place = context;
    return by_safetensors_put(place->output->writer, place->first + field, at, bytes, size, err);
}

static int quantize_item(struct job *job, struct by_llm_item *item, size_t first,
                         struct baryon_error *err)
{
    struct by_llm_bundle bundle = {.first = first, .count = item->fields.count};
    const double begun = by_seconds();
    struct place place = {.output = &job->output, .first = first};
    const struct by_llm_sink sink = {put_bytes, &place};
    int failed = 0;
    for (size_t i = 0; i < bundle.count && !failed; i++) {
        if (by_llm_field_in_rows(&item->fields.at[i]))
            continue;
        bundle.sizes[i] = item->fields.at[i].bytes;
        bundle.bytes[i] = by_llm_output_room(&job->output, bundle.sizes[i], err);
        failed = bundle.bytes[i] ? 0 : -1;
    }
    if (!failed)
        failed = by_llm_item_quantize(&job->plan, &job->opened.source, item, job->options,
                                      job->pool, bundle.bytes, &sink, err);
    item->seconds = by_seconds() - begun;
    if (!failed)
        return by_llm_output_put(&job->output, &bundle, err);
    for (size_t i = 0; i < bundle.count; i++)
        by_free(bundle.bytes[i]);
    return -1;
}

static int write_item(struct job *job, struct by_llm_item *item, size_t first,
                      struct baryon_error *err)
{
    const struct by_llm_weight *weight = item->weight;
    const size_t count = item->scheme ? item->fields.count : 1;
    if (is_there(job, first, count)) {
        job->result->resumed += count;
        item->resumed = true;
        return 0;
    }
    if (item->scheme)
        return quantize_item(job, item, first, err);
    if (!is_copied(weight))
        return by_llm_write_floats(&job->output, &job->opened.source, weight, first, job->pool,
                                   by_llm_source_elem(weight), err);
    return by_llm_output_copy(&job->output, first, job->opened.checkpoint, weight->stored, err);
}

static void count_item(struct by_llm_quantized *result, const struct by_llm_item *item)
{
    uint64_t bytes = 0;
    result->bytes_in += by_llm_source_bytes(item->weight);
    if (item->scheme) {
        for (size_t i = 0; i < item->fields.count; i++)
            bytes += item->fields.at[i].bytes;
        result->layers++;
        result->weights += (uint64_t)item->weight->rows * item->weight->columns;
    } else {
        const uint64_t values = (uint64_t)item->weight->rows * item->weight->columns;
        const enum by_elem elem = (enum by_elem)by_llm_source_elem(item->weight);
        bytes = is_copied(item->weight) ? item->weight->stored->bytes
                                        : values * by_stored_type_by_elem(elem)->bytes;
        result->kept += values;
    }
    result->bytes_out += bytes;
    result->sums.energy += item->sums.energy;
    result->sums.error += item->sums.error;
    result->sums.minmax_error += item->sums.minmax_error;
}

/* Where items are in the output, for those that are solved. */
struct solved {
    struct job *job;
    const size_t *first_of;
};

static int put_solved(void *context, const struct by_llm_item *item,
                      uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    const struct solved *solved = context;
    struct by_llm_output *output = &solved->job->output;
    struct by_llm_bundle bundle = {.first = solved->first_of[item - solved->job->plan.items],
                                   .count = item->fields.count};
    for (size_t i = 0; i < bundle.count; i++) {
        bundle.bytes[i] = data[i];
        bundle.sizes[i] = item->fields.at[i].bytes;
    }
    if (!is_there(solved->job, bundle.first, bundle.count))
        return by_llm_output_put(output, &bundle, err);
    for (size_t i = 0; i < bundle.count; i++)
        by_free(bundle.bytes[i]);
    return 0;
}

static int solve_all(struct job *job, const size_t *first_of, struct by_hash128 key,
                     struct baryon_error *err)
{
    struct solved solved = {job, first_of};
    char path[4096];
    if (!by_join_path(path, sizeof path, by_safetensors_folder(job->output.writer),
                      BY_LAYER_JOURNAL))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    job->calibrated.put = put_solved;
    job->calibrated.context = &solved;
    job->calibrated.journal = path;
    return by_llm_calibrated_run(&job->calibrated, key, err) ||
                   by_llm_output_wait(&job->output, err) || by_remove_file(path, err)
               ? -1
               : 0;
}

/* What is solved comes last. */
static int write_all(struct job *job, struct by_hash128 key, struct baryon_error *err)
{
    size_t first = 0;
    size_t *first_of = by_arena_alloc(&job->arena, job->plan.count, sizeof *first_of, err);
    if (!first_of)
        return -1;
    for (size_t i = 0; i < job->plan.count; i++) {
        struct by_llm_item *item = &job->plan.items[i];
        first_of[i] = first;
        if (!item->method && write_item(job, item, first, err))
            return -1;
        first += item->scheme ? item->fields.count : 1;
    }
    if (by_llm_rotated_write(job->inputs, &job->output, first, err))
        return -1;
    if (solves(job->options) && solve_all(job, first_of, key, err))
        return -1;
    return by_llm_output_wait(&job->output, err);
}

/* --- config.json --- */

/* Rules of several layers may have the same scheme. */
static bool is_first_of(const struct by_llm_plan *plan, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (plan->schemes[i] == plan->schemes[index])
            return false;
    return true;
}

/* Names of the layers of each scheme, of those that stay, and the patterns of the latter. */
static int name_layers(struct job *job, struct by_llm_config *config, struct baryon_error *err)
{
    const struct by_llm_plan *plan = &job->plan;
    struct by_llm_layers *layers =
        by_arena_alloc(&job->arena, plan->scheme_count, sizeof *layers, err);
    const char **kept = by_arena_alloc(&job->arena, plan->count + 1, sizeof *kept, err);
    if (!layers || !kept)
        return -1;
    for (size_t s = 0; s < plan->scheme_count; s++) {
        if (!is_first_of(plan, s))
            continue;
        const char **names = by_arena_alloc(&job->arena, plan->count, sizeof *names, err);
        struct by_llm_layers *own = &layers[config->count++];
        if (!names)
            return -1;
        *own = (struct by_llm_layers){.scheme = plan->schemes[s], .names = names};
        for (size_t i = 0; i < plan->count; i++)
            if (plan->items[i].scheme == plan->schemes[s])
                names[own->count++] = plan->items[i].weight->layer;
    }
    config->excluded = kept;
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->items[i].scheme && plan->items[i].reason)
            kept[config->excluded_count++] = plan->items[i].weight->layer;
    /* Loaders make a head of a tied embedding, which is no tensor of ours. */
    if (plan->tied)
        kept[config->excluded_count++] = "lm_head";
    config->layers = layers;
    config->patterns = job->options->exclude;
    config->pattern_count = job->options->exclude_count;
    config->static_inputs = plan->static_inputs;
    config->cache = plan->cache;
    config->cache_fused = plan->cache_fused;
    config->online = by_llm_rotated_online(job->inputs);
    return 0;
}

static int write_files(struct job *job, struct baryon_error *err)
{
    struct by_llm_config config = {0};
    struct by_str text;
    struct by_json json;
    if (name_layers(job, &config, err))
        return -1;
    by_str_init(&text);
    by_json_init(&json, &text, true);
    by_json_open(&json, NULL, '{');
    job->plan.layout->config(&config, &json);
    by_json_close(&json, '}');
    int failed = by_str_error(&text, err);
    if (!failed)
        failed = by_llm_write_beside(by_safetensors_folder(job->output.writer), &job->opened,
                                     by_str_text(&text), err);
    by_str_release(&text);
    return failed;
}

/* --- All --- */

static int key_of(struct job *job, struct by_hash128 *key, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = job->options;
    struct by_str text;
    by_str_init(&text);
    by_str_printf(&text, "%s %u %zu %lld %d %d %d %d", job->plan.layout->name, options->rotate,
                  options->rotate_size, (long long)options->group_size, (int)options->search,
                  options->quark, options->allow_nonfinite, (int)options->stacks);
    for (size_t i = 0; i < job->plan.count; i++)
        by_str_printf(&text, " %s",
                      job->plan.items[i].scheme ? job->plan.items[i].scheme->name : "-");
    if (solves(options) || options->scaling != BY_LLM_SCALING_NONE)
        by_llm_calibrated_name(&job->calibrated, &text);
    by_str_printf(&text, " %d %a", (int)options->scaling, options->alpha);
    for (size_t i = 0; i < job->plan.count; i++)
        if (job->plan.items[i].tensor.input || job->plan.items[i].cache)
            by_str_printf(&text, " %a %a", (double)job->plan.items[i].tensor.input_scale,
                          (double)job->plan.items[i].tensor.cache_scale);
    int failed = by_str_error(&text, err);
    if (!failed)
        failed = by_llm_output_key(job->opened.checkpoint, by_str_text(&text), key, err);
    by_str_release(&text);
    return failed;
}

static void report_inputs(const struct job *job)
{
    const struct by_llm_scheme *scheme = job->plan.schemes[0];
    if (!scheme->input.dtype || !by_llm_input_is_static(&scheme->input) || job->plan.static_inputs)
        return;
    if (scheme->input.global)
        by_log(job->log, BY_LOG_NOTICE,
               "scheme %s: inputs stay floats, their scale would need samples", scheme->name);
    else
        by_log(job->log, BY_LOG_NOTICE,
               "scheme %s: scales of inputs are found while the model runs, no samples were seen",
               scheme->name);
}

static int write_folder(struct job *job, const char *out, struct baryon_error *err)
{
    struct by_hash128 key;
    const uint64_t size = job->options->shard_size ? job->options->shard_size : BY_SHARD_BYTES;
    if (declare_all(job, err) || key_of(job, &key, err) ||
        by_llm_output_open(&job->output, out, size, key, err))
        return -1;
    const int failed = write_all(job, key, err) || write_files(job, err) ||
                       by_checkpoint_check(job->opened.checkpoint, err) ||
                       by_safetensors_finish(job->output.writer, err);
    by_llm_output_close(&job->output);
    return failed ? -1 : 0;
}

static int open_calibrated(struct job *job, struct baryon_error *err)
{
    job->calibrated = (struct by_llm_calibrated){.options = job->options,
                                                 .opened = &job->opened,
                                                 .plan = &job->plan,
                                                 .pool = job->pool,
                                                 .result = job->result,
                                                 .log = job->log};
    return solves(job->options) ? by_llm_calibrated_open(&job->calibrated, err)
                                : by_llm_calibrated_read(&job->calibrated, err);
}

/* Texts are for a method that solves, or for scales of what layers read. */
static int read_texts(struct job *job, struct baryon_error *err)
{
    const bool wanted = by_llm_ranges_wanted(&job->plan);
    const bool scales = job->options->scaling != BY_LLM_SCALING_NONE;
    if (!job->options->texts.count)
        return 0;
    if (!solves(job->options) && !wanted && !scales)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--text is not valid here: method rtn and scheme %s ask nothing of texts",
                       job->plan.schemes[0]->name);
    if (open_calibrated(job, err))
        return -1;
    if (scales && !job->options->dry_run && by_llm_scale(&job->scaled, &job->calibrated, err))
        return -1;
    return wanted && !job->options->dry_run ? by_llm_ranges_find(&job->calibrated, err) : 0;
}

static int run_job(struct job *job, const char *in, const char *out, struct baryon_error *err)
{
    const unsigned rotate = job->options->rotate;
    if (by_llm_open(&job->opened, in, job->options->stacks, BY_LLM_NAMES_FOLDER, err))
        return -1;
    by_log_lines(job->log, BY_LOG_NOTICE, by_str_text(&job->opened.done.notices));
    if (rotate & ~(unsigned)BY_LLM_ROTATE_INPUTS &&
        by_llm_rotate(&job->rotated, &job->opened, rotate, err))
        return by_err_file(err, in);
    if (by_llm_plan(&job->plan, &job->opened.source, job->options, &job->arena, err))
        return -1;
    if (rotate & BY_LLM_ROTATE_INPUTS &&
        by_llm_rotate_inputs(&job->inputs, &job->opened, &job->plan, job->options->rotate_size,
                             err))
        return by_err_file(err, in);
    if (by_pool_open(&job->pool, job->options->threads, err) || read_texts(job, err))
        return -1;
    report_inputs(job);
    if (!job->options->dry_run && write_folder(job, out, err))
        return -1;
    if (job->options->report && by_llm_report(&job->plan, in, out, job->options, err))
        return -1;
    for (size_t i = 0; i < job->plan.count; i++)
        count_item(job->result, &job->plan.items[i]);
    return 0;
}

int by_llm_quantize(const char *in, const char *out, const struct by_llm_quantize_options *options,
                    struct by_log *log, struct by_llm_quantized *result, struct baryon_error *err)
{
    struct job job = {.options = options, .log = log, .result = result};
    *result = (struct by_llm_quantized){0};
    if (options->layout && !strcmp(options->layout, by_llm_layout_gguf.name))
        return by_llm_quantize_gguf(in, out, options, log, result, err);
    if (options->importance)
        return by_fail(err, BARYON_ERR_USAGE, "--importance requires --layout gguf");
    by_arena_init(&job.arena, ARENA_LIMIT);
    const int failed = run_job(&job, in, out, err);
    by_llm_calibrated_close(&job.calibrated);
    by_pool_close(job.pool);
    by_llm_scaled_close(job.scaled);
    by_llm_rotated_inputs_close(job.inputs);
    by_llm_rotated_close(job.rotated);
    by_llm_close(&job.opened);
    by_arena_release(&job.arena);
    return failed;
}
