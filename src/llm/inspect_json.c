/* What is in a checkpoint as JSON. */
#include "llm/inspect.h"

static void write_sum(struct by_json *json, const char *key, const struct by_llm_total *sum)
{
    by_json_open(json, key, '{');
    if (sum->name)
        by_json_text(json, "name", sum->name);
    by_json_int(json, "tensors", (int64_t)sum->tensors);
    by_json_int(json, "values", (int64_t)sum->parameters);
    by_json_int(json, "bytes", (int64_t)sum->bytes);
    by_json_close(json, '}');
}

static void write_sums(struct by_json *json, const char *key, const struct by_llm_totals *sums)
{
    by_json_open(json, key, '[');
    for (size_t i = 0; i < sums->count; i++)
        write_sum(json, NULL, &sums->at[i]);
    by_json_close(json, ']');
}

static void write_tensors(struct by_json *json, const struct by_checkpoint *checkpoint,
                          const struct by_llm_summary *summary)
{
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const struct by_stored_tensor *tensor = &checkpoint->tensors[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", tensor->name);
        by_json_text(json, "kind", by_llm_kind(&summary->family.roles[i]));
        by_json_text(json, "type", tensor->type->name);
        by_json_open(json, "shape", '[');
        for (size_t k = 0; k < tensor->rank; k++)
            by_json_int(json, NULL, (int64_t)tensor->dims[k]);
        by_json_close(json, ']');
        by_json_int(json, "bytes", (int64_t)tensor->bytes);
        by_json_text(json, "file", checkpoint->files[tensor->file].name);
        by_json_int(json, "offset", (int64_t)tensor->offset);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_llm_summary_json(const struct by_llm_summary *summary,
                         const struct by_checkpoint *checkpoint, bool tensors, struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "container", checkpoint->container == BY_GGUF ? "gguf" : "safetensors");
    by_json_int(json, "files", (int64_t)checkpoint->file_count);
    by_json_text(json, "architecture", summary->architecture);
    by_json_int(json, "layers", (int64_t)summary->family.layers);
    by_json_int(json, "hidden", (int64_t)summary->family.hidden);
    by_json_int(json, "experts", (int64_t)summary->family.experts);
    by_json_bool(json, "tied", summary->family.tied);
    if (summary->method)
        by_json_text(json, "method", summary->method);
    else
        by_json_null(json, "method");
    by_json_text(json, "scheme", summary->scheme);
    write_sum(json, "all", &summary->all);
    write_sums(json, "kinds", &summary->kinds);
    write_sums(json, "types", &summary->types);
    write_sum(json, "quantizable", &summary->linear);
    write_sums(json, "left", &summary->left);
    if (tensors)
        write_tensors(json, checkpoint, summary);
    by_json_close(json, '}');
}
