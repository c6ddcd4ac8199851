/* Blocks of a GGUF file, solved layer after layer. */
#include "llm/calibrated.h"

#include "base/file.h"
#include "llm/output.h"
#include "llm/store/gguf_write.h"

#include <string.h>

/* Where a weight is in the file. */
struct made_place {
    size_t tensor, part;
};

struct by_llm_gguf_job {
    struct by_convert_run *run;
    by_convert_put_fn *put;
    struct by_gguf_writer *writer;
    struct by_llm_calibrated calibrated;
    struct by_hash128 key; /* of layers */
    struct by_llm_plan plan;
    struct made_place *places;     /* by weight of the source */
    struct by_llm_item ***of_made; /* by tensor of run->made, then by part; NULL: none */
};

static size_t bytes_of_row(const struct by_made_tensor *made)
{
    return (size_t)(by_made_width(made) / made->type->block * made->type->bytes);
}

/* --- Which weights become blocks --- */

static const struct by_llm_weight *weight_of(const struct by_made_tensor *made, size_t part,
                                             const size_t *of_stored,
                                             const struct by_convert_run *run)
{
    if (made->weights && made->weights[part])
        return made->weights[part];
    const size_t index = of_stored[made->parts[part] - run->in->tensors];
    return index ? &run->source->weights[index - 1] : NULL;
}

static int list_made(struct by_llm_gguf_job *job, size_t tensor, const size_t *of_stored,
                     struct baryon_error *err)
{
    const struct by_made_tensor *made = &job->run->made.at[tensor];
    struct by_llm_item **items =
        by_arena_alloc(&job->run->arena, made->part_count, sizeof *items, err);
    if (!items)
        return -1;
    job->of_made[tensor] = items;
    for (size_t part = 0; part < made->part_count; part++) {
        const struct by_llm_weight *weight = weight_of(made, part, of_stored, job->run);
        if (!weight)
            continue;
        struct by_llm_item *item = &job->plan.items[weight - job->run->source->weights];
        items[part] = item;
        item->blocks = made->type;
        item->fields.count = 1;
        item->fields.at[0].bytes = bytes_of_row(made) * weight->rows;
        job->places[weight - job->run->source->weights] = (struct made_place){tensor, part};
    }
    return 0;
}

static int list_all(struct by_llm_gguf_job *job, struct baryon_error *err)
{
    struct by_convert_run *run = job->run;
    const size_t count = run->source->count;
    job->plan.items = by_arena_alloc(&run->arena, count, sizeof *job->plan.items, err);
    job->places = by_arena_alloc(&run->arena, count, sizeof *job->places, err);
    size_t *of_stored =
        by_arena_alloc(&run->arena, run->in->tensor_count + 1, sizeof *of_stored, err);
    job->of_made = by_arena_alloc(&run->arena, run->made.count + 1, sizeof *job->of_made, err);
    if (!job->plan.items || !job->places || !of_stored || !job->of_made)
        return -1;
    job->plan.count = count;
    for (size_t i = 0; i < count; i++) {
        job->plan.items[i].weight = &run->source->weights[i];
        of_stored[run->source->weights[i].stored - run->in->tensors] = i + 1;
    }
    for (size_t i = 0; i < run->made.count; i++)
        if (run->made.at[i].type->block > 1 && !run->made.at[i].values &&
            run->made.at[i].add == 0 && list_made(job, i, of_stored, err))
            return -1;
    return 0;
}

/* --- Into the file --- */

/* Rows of q and k in the order of the file. */
static void order_rows(const struct by_made_tensor *made, size_t rows, const uint8_t *from,
                       uint8_t *to)
{
    const size_t bytes = bytes_of_row(made);
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * bytes, from + by_gguf_row_of(r, rows, made->heads) * bytes, bytes);
}

static int put_blocks(void *context, const struct by_llm_item *item,
                      uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    const struct by_llm_gguf_job *job = context;
    const struct made_place place = job->places[item - job->plan.items];
    const struct by_made_tensor *made = &job->run->made.at[place.tensor];
    const size_t size = item->fields.at[0].bytes;
    if (by_gguf_has(job->writer, place.tensor)) {
        by_free(data[0]);
        return 0;
    }
    uint8_t *ordered = made->heads ? by_alloc(size, 1, err) : data[0];
    if (ordered && made->heads)
        order_rows(made, item->weight->rows, data[0], ordered);
    const int status =
        ordered ? job->put(job->writer, place.tensor, place.part * size, ordered, size, err) : -1;
    if (made->heads)
        by_free(ordered);
    by_free(data[0]);
    return status;
}

/* A tensor is done when all of its parts were solved: layers that the decoder does not have, and
 * the embedding, are not. */
static void note_done(const struct by_llm_gguf_job *job, bool *done)
{
    for (size_t i = 0; i < job->plan.count; i++)
        if (job->plan.items[i].method)
            done[job->places[i].tensor] = true;
}

/* Everything that the bytes of solved layers depend on. */
static int name_job(struct by_llm_gguf_job *job, struct by_str *name, struct baryon_error *err)
{
    by_str_puts(name, "gguf");
    by_llm_calibrated_name(&job->calibrated, name);
    for (size_t i = 0; i < job->plan.count; i++)
        by_str_printf(name, " %s",
                      job->plan.items[i].blocks ? job->plan.items[i].blocks->name : "-");
    return by_str_error(name, err) ||
                   by_llm_output_key(job->run->in, by_str_text(name), &job->key, err)
               ? -1
               : 0;
}

int by_llm_calibrated_gguf_open(void *context, struct by_convert_run *run, struct by_str *name,
                                struct baryon_error *err)
{
    struct by_llm_calibrated_gguf *given = context;
    struct by_llm_gguf_job *job = BY_ARENA_NEW(&run->arena, struct by_llm_gguf_job, err);
    if (!job)
        return -1;
    given->job = job;
    job->run = run;
    job->calibrated = (struct by_llm_calibrated){.options = given->options,
                                                 .opened = run->opened,
                                                 .plan = &job->plan,
                                                 .pool = run->pool,
                                                 .put = put_blocks,
                                                 .context = job,
                                                 .result = given->result,
                                                 .log = given->log};
    return list_all(job, err) || by_llm_calibrated_open(&job->calibrated, err) ||
                   name_job(job, name, err)
               ? -1
               : 0;
}

int by_llm_calibrated_gguf_run(void *context, by_convert_put_fn *put, void *writer,
                               const char *folder, bool *done, struct baryon_error *err)
{
    const struct by_llm_calibrated_gguf *given = context;
    struct by_llm_gguf_job *job = given->job;
    char path[4096];
    job->put = put;
    job->writer = writer;
    if (!by_join_path(path, sizeof path, folder, BY_LAYER_JOURNAL))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    job->calibrated.journal = path;
    if (by_llm_calibrated_run(&job->calibrated, job->key, err))
        return -1;
    note_done(job, done);
    return 0;
}

const struct by_llm_item *by_llm_calibrated_gguf_item(void *context, size_t tensor, size_t part)
{
    const struct by_llm_calibrated_gguf *given = context;
    struct by_llm_item *const *items = given->job->of_made[tensor];
    return items ? items[part] : NULL;
}

void by_llm_calibrated_gguf_close(void *context)
{
    const struct by_llm_calibrated_gguf *given = context;
    if (given->job)
        by_llm_calibrated_close(&given->job->calibrated);
}
