/* Writes a quantized checkpoint as floats. */
#include "llm/quantize.h"

#include "base/half.h"
#include "llm/output.h"

#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 30)
#define AT_ONCE     16 /* slabs that are computed before they are written */

/* --- Rows of floats as another type --- */

struct rows {
    const struct by_llm_source *source;
    const struct by_llm_weight *weight;
    int64_t elem;
    size_t first, step, bytes; /* of a row */
    uint8_t *out;
};

static void store_floats(int64_t elem, const float *values, size_t count, uint8_t *out)
{
    uint16_t *half = (uint16_t *)(void *)out;
    if (elem == BY_ELEM_FLOAT)
        memcpy(out, values, count * sizeof *values);
    else if (elem == BY_ELEM_FLOAT16)
        by_f32_to_f16(half, values, count);
    else
        by_f32_to_bf16(half, values, count);
}

static int float_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct rows *rows = context;
    const size_t count = end - begin, columns = rows->weight->columns;
    float *values = by_alloc(count * columns, sizeof *values, err);
    (void)worker;
    if (!values)
        return -1;
    const int failed =
        by_llm_source_rows(rows->source, rows->weight, rows->first + begin, count, values, err);
    if (!failed)
        store_floats(rows->elem, values, count * columns, rows->out + begin * rows->bytes);
    by_free(values);
    by_llm_source_done(rows->source, rows->weight, rows->first + begin, count);
    return failed;
}

int by_llm_write_floats(struct by_llm_output *output, const struct by_llm_source *source,
                        const struct by_llm_weight *weight, size_t tensor, struct by_pool *pool,
                        int64_t elem, struct baryon_error *err)
{
    struct rows rows = {.source = source,
                        .weight = weight,
                        .elem = elem,
                        .step = by_llm_slab_rows(weight),
                        .bytes = weight->columns * (elem == BY_ELEM_FLOAT ? 4 : 2)};
    const size_t some = rows.step * AT_ONCE;
    for (; rows.first < weight->rows; rows.first += some) {
        const size_t left = weight->rows - rows.first, count = left < some ? left : some;
        struct by_llm_bundle bundle = {.first = tensor,
                                       .count = 1,
                                       .at = rows.first * rows.bytes,
                                       .sizes = {count * rows.bytes}};
        if (!(rows.out = bundle.bytes[0] = by_alloc(bundle.sizes[0], 1, err)))
            return -1;
        if (by_par_for(pool, count, rows.step, float_piece, &rows, err)) {
            by_free(rows.out);
            return -1;
        }
        if (by_llm_output_put(output, &bundle, err))
            return -1;
    }
    return 0;
}

/* --- The checkpoint --- */

struct job {
    const struct by_llm_quantize_options *options;
    int64_t elem;
    struct by_llm_opened opened;
    struct by_llm_output output;
    struct by_arena arena;
    struct by_pool *pool;
    struct by_llm_quantized *result;
};

static bool is_kept(const struct job *job, const struct by_llm_weight *weight)
{
    return weight->as == BY_LLM_AS_OTHER ||
           (weight->as == BY_LLM_AS_FLOATS &&
            (!job->elem || job->elem == (int64_t)weight->stored->type->elem || weight->rank < 2));
}

static int64_t elem_of(const struct job *job, const struct by_llm_weight *weight)
{
    if (is_kept(job, weight))
        return weight->stored->type->elem;
    return job->elem && weight->rank > 1 ? job->elem : by_llm_source_elem(weight);
}

static int declare_floats(struct job *job, struct baryon_error *err)
{
    const struct by_llm_source *source = &job->opened.source;
    job->output.tensors =
        by_arena_alloc(&job->arena, source->count, sizeof *job->output.tensors, err);
    if (!job->output.tensors)
        return -1;
    for (size_t i = 0; i < source->count; i++) {
        const struct by_llm_weight *weight = &source->weights[i];
        if (by_llm_output_declare(&job->output, &job->arena, weight->name, NULL,
                                  elem_of(job, weight), weight->rank, weight->dims, err))
            return -1;
    }
    return 0;
}

static bool is_quantized(const struct by_llm_weight *weight)
{
    return weight->as != BY_LLM_AS_FLOATS &&
           (weight->as != BY_LLM_AS_MADE || weight->stored->type->elem == BY_ELEM_UNDEFINED);
}

static int write_weight(struct job *job, size_t index, struct baryon_error *err)
{
    const struct by_llm_weight *weight = &job->opened.source.weights[index];
    const uint64_t values = (uint64_t)weight->rows * weight->columns;
    job->result->bytes_in += by_llm_source_bytes(weight);
    if (by_safetensors_has(job->output.writer, index)) {
        job->result->resumed++;
        return 0;
    }
    if (is_kept(job, weight)) {
        job->result->kept += values;
        job->result->bytes_out += weight->stored->bytes;
        return by_llm_output_copy(&job->output, index, job->opened.checkpoint, weight->stored, err);
    }
    job->result->layers += is_quantized(weight);
    job->result->weights += values;
    job->result->bytes_out += values * (elem_of(job, weight) == BY_ELEM_FLOAT ? 4 : 2);
    return by_llm_write_floats(&job->output, &job->opened.source, weight, index, job->pool,
                               elem_of(job, weight), err);
}

static int write_floats_folder(struct job *job, const char *out, struct baryon_error *err)
{
    struct by_hash128 key;
    const uint64_t size = job->options->shard_size ? job->options->shard_size : BY_SHARD_BYTES;
    if (declare_floats(job, err) ||
        by_llm_output_key(job->opened.checkpoint, by_elem_name(job->elem), &key, err) ||
        by_llm_output_open(&job->output, out, size, key, err))
        return -1;
    int failed = 0;
    for (size_t i = 0; i < job->opened.source.count && !failed; i++)
        failed = write_weight(job, i, err);
    failed =
        failed || by_llm_output_wait(&job->output, err) ||
        by_llm_write_beside(by_safetensors_folder(job->output.writer), &job->opened, NULL, err) ||
        by_checkpoint_check(job->opened.checkpoint, err) ||
        by_safetensors_finish(job->output.writer, err);
    by_llm_output_close(&job->output);
    return failed ? -1 : 0;
}

static int run_dequantize(struct job *job, const char *in, const char *out,
                          struct baryon_error *err)
{
    if (by_llm_open(&job->opened, in, BY_LLM_STACKS_KEEP, BY_LLM_NAMES_FOLDER, err))
        return -1;
    return by_pool_open(&job->pool, job->options->threads, err) ||
                   write_floats_folder(job, out, err)
               ? -1
               : 0;
}

int by_llm_dequantize(const char *in, const char *out, int64_t elem,
                      const struct by_llm_quantize_options *options, struct by_log *log,
                      struct by_llm_quantized *result, struct baryon_error *err)
{
    struct job job = {.options = options, .elem = elem, .result = result};
    *result = (struct by_llm_quantized){0};
    by_arena_init(&job.arena, ARENA_LIMIT);
    const int failed = run_dequantize(&job, in, out, err);
    if (!failed)
        by_log_lines(log, BY_LOG_NOTICE, by_str_text(&job.opened.done.notices));
    by_pool_close(job.pool);
    by_llm_close(&job.opened);
    by_arena_release(&job.arena);
    return failed;
}
