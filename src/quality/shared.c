/* Finds parts of outputs that are lost in a scale that they share with others. */
#include "quality/quality_internal.h"

#include <stdio.h>
#include <string.h>

#define DEPTH 16   /* operators from the output back */
#define APART 10.0 /* dB between parts: the lesser one has a tenth of the other's quality */

struct parts {
    const struct by_quality_output *worst;
    double best;
    const char *output;
};

/* Of the worst part of all outputs, those beside it; false: it is a whole output. */
static bool find_parts(const struct by_quality_job *job, struct parts *parts)
{
    const struct by_quality_output *at = job->out->outputs;
    for (size_t i = 0; i < job->outputs.count; i++) {
        const struct by_quality_output *end = at + job->outputs.joined[i].count;
        *parts = (struct parts){.best = -INFINITY, .output = job->outputs.names[i]};
        for (; at < end; at++) {
            parts->best = fmax(parts->best, at->sqnr);
            if (at->sqnr <= job->out->worst)
                parts->worst = at;
        }
        if (parts->worst)
            return job->outputs.joined[i].count > 1;
    }
    return false;
}

static const struct baryon_node *find_concat(const struct by_quality_job *job, const char *output)
{
    const struct baryon_value *value = by_map_get(&job->exact.model->graph->values, output);
    for (unsigned i = 0; value && value->producer && i < DEPTH; i++) {
        if (by_node_is(value->producer, "Concat"))
            return value->producer;
        value = by_node_in(value->producer, 0);
    }
    return NULL;
}

static bool plan_quantizes(const struct by_quant_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        if (node->node->name && !strcmp(node->node->name, name))
            return node->state == BY_NODE_QUANTIZED;
    }
    return false;
}

static const char *keep(struct by_arena *arena, struct by_str *text, struct baryon_error *err)
{
    const char *kept = by_str_error(text, err) == 0
                           ? by_arena_text(arena, by_str_text(text), text->size, err)
                           : NULL;
    by_str_release(text);
    return kept;
}

int by_quality_find_shared(struct by_quality_job *job, struct baryon_error *err)
{
    struct by_quality *out = job->out;
    struct parts parts;
    struct by_str text;
    char quoted[BY_QUOTE_MAX], other[BY_QUOTE_MAX];
    if (!find_parts(job, &parts) || !(parts.best >= parts.worst->sqnr + APART))
        return 0;
    const struct baryon_node *concat = find_concat(job, parts.output);
    if (!concat || !concat->name || !*concat->name ||
        !plan_quantizes(job->run->draft.plan, concat->name))
        return 0;
    by_str_init(&text);
    by_str_printf(&text,
                  "A shared scale is the cause: node %s joins the parts of output %s, and its "
                  "scale is too coarse for %s.",
                  by_quote(quoted, concat->name), by_quote(other, parts.output), parts.worst->name);
    if (!(out->cause = keep(&out->arena, &text, err)))
        return -1;
    by_str_init(&text);
    by_str_printf(&text, "--exclude %s", by_quote(quoted, concat->name));
    out->next = keep(&out->arena, &text, err);
    return out->next ? 0 : -1;
}
