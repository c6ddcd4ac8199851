/* Solves linear layers on texts and puts their blocks where the file has them. */
#include "llm/convert_solve.h"

#include "llm/calibrated.h"
#include "llm/family/arch.h"

/* Where a weight of the source goes. */
struct target {
    size_t made, part;
    bool known;
};

struct solving {
    struct by_convert_run *run;
    struct by_gguf_writer *writer;
    bool *written;
    struct target *targets; /* by weight of the source */
};

/* --- Where weights go --- */

static bool is_part(const struct by_made_tensor *made, size_t part,
                    const struct by_llm_weight *weight)
{
    if (made->weights && made->weights[part])
        return made->weights[part] == weight;
    return made->parts[part] == weight->stored;
}

static void find_target(const struct by_convert_run *run, const struct by_llm_weight *weight,
                        struct target *target)
{
    for (size_t i = 0; i < run->made.count; i++)
        for (size_t part = 0; part < run->made.at[i].part_count; part++)
            if (is_part(&run->made.at[i], part, weight)) {
                *target = (struct target){i, part, true};
                return;
            }
}

static int put_rows(const struct solving *s, const struct target *target, uint64_t row,
                    uint64_t count, const uint8_t *blocks, struct baryon_error *err)
{
    const struct by_made_tensor *made = &s->run->made.at[target->made];
    const uint64_t rows = by_made_rows(made) / made->part_count;
    const uint64_t bytes = by_made_bytes(made) / by_made_rows(made);
    return by_gguf_add(s->writer, target->made, (target->part * rows + row) * bytes, blocks,
                       (size_t)(count * bytes), err);
}

static int put_blocks(void *context, const struct by_llm_weight *weight, size_t first, size_t count,
                      const uint8_t *blocks, struct baryon_error *err)
{
    const struct solving *s = context;
    const struct target *target = &s->targets[weight - s->run->source->weights];
    const struct by_made_tensor *made = &s->run->made.at[target->made];
    const uint64_t rows = by_made_rows(made) / made->part_count;
    const uint64_t bytes = by_made_bytes(made) / by_made_rows(made);
    s->written[target->made] = true;
    if (!made->heads)
        return put_rows(s, target, first, count, blocks, err);
    for (size_t i = 0; i < count; i++) {
        const uint64_t row = by_gguf_row_back(first + i, rows, made->heads);
        if (put_rows(s, target, row, 1, blocks + i * bytes, err))
            return -1;
    }
    return 0;
}

/* --- What is solved --- */

static bool is_linear(const struct by_made_tensor *made)
{
    return made->rank > 1 && !made->values && made->add == 0 && by_ggml_solves(made->type);
}

static int list_items(struct solving *s, struct by_llm_plan *plan, const char *method,
                      struct baryon_error *err)
{
    struct by_convert_run *run = s->run;
    const size_t count = run->source->count;
    plan->items = by_arena_alloc(&run->arena, count, sizeof *plan->items, err);
    s->targets = by_arena_alloc(&run->arena, count, sizeof *s->targets, err);
    if (!plan->items || !s->targets)
        return -1;
    plan->count = count;
    for (size_t i = 0; i < count; i++) {
        struct by_llm_item *item = &plan->items[i];
        item->weight = &run->source->weights[i];
        find_target(run, item->weight, &s->targets[i]);
        if (!s->targets[i].known || !is_linear(&run->made.at[s->targets[i].made]))
            continue;
        item->blocks = run->made.at[s->targets[i].made].type;
        item->method = method;
    }
    return 0;
}

/* --- All --- */

int by_convert_solve(struct by_convert_run *run, struct by_gguf_writer *writer, bool *written,
                     struct baryon_error *err)
{
    const struct by_llm_solve_blocks *given = run->options->solve;
    struct solving solving = {.run = run, .writer = writer, .written = written};
    const struct by_llm_blocks_sink sink = {put_blocks, &solving};
    struct by_llm_plan plan = {0};
    struct by_llm_calibrated job = {.options = given->options,
                                    .opened = run->opened,
                                    .plan = &plan,
                                    .pool = run->pool,
                                    .blocks = &sink,
                                    .result = given->result,
                                    .log = given->log};
    int status = list_items(&solving, &plan, given->options->solver.method->name, err) ||
                 by_llm_calibrated_open(&job, err) ||
                 by_llm_calibrated_run(&job, NULL, (struct by_hash128){0}, err);
    by_llm_calibrated_close(&job);
    return status ? -1 : 0;
}
