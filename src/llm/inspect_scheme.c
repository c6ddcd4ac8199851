/* Tells how a checkpoint is quantized, from config.json, tensor names and types. */
#include "base/text.h"
#include "llm/inspect.h"

#include <inttypes.h>
#include <string.h>

static int64_t int_of(const struct by_doc_node *map, const char *key)
{
    int64_t value;
    return by_hf_int(map, key, &value) ? value : 0;
}

static void describe(struct by_llm_summary *summary, int64_t bits, int64_t group)
{
    struct by_text text;
    by_text_init(&text, summary->scheme, sizeof summary->scheme);
    if (bits > 0)
        by_text_add(&text, "%" PRId64 " bits", bits);
    if (group > 0)
        by_text_add(&text, "%sgroups of %" PRId64, bits > 0 ? ", " : "", group);
    if (bits > 0 && bits < 8)
        summary->code_bits = (unsigned)bits;
}

/* "uint4", "fp8_e4m3", "mxfp6": the number of bits in a name. */
static int64_t bits_in(const char *dtype)
{
    const char *digit = dtype + strcspn(dtype, "0123456789");
    int64_t bits = 0;
    for (; *digit >= '0' && *digit <= '9' && bits < 100; digit++)
        bits = bits * 10 + (*digit - '0');
    return bits;
}

/* The first map of a list, or the map itself. */
static const struct by_doc_node *first_map(const struct by_doc_node *node)
{
    if (node && node->kind == BY_DOC_LIST && node->count)
        node = node->items[0];
    return node && node->kind == BY_DOC_MAP ? node : NULL;
}

static void describe_quark(struct by_llm_summary *summary, const struct by_doc_node *config)
{
    const struct by_doc_node *all = by_doc_get(config, "global_quant_config");
    const struct by_doc_node *weight = first_map(all ? by_doc_get(all, "weight") : NULL);
    const char *dtype = weight ? by_hf_string(weight, "dtype") : NULL;
    struct by_text text;
    if (!dtype)
        return;
    int64_t bits = bits_in(dtype), group = int_of(weight, "group_size");
    describe(summary, bits, group);
    by_text_init(&text, summary->scheme, sizeof summary->scheme);
    by_text_add(&text, "%.40s", dtype);
    if (group > 0)
        by_text_add(&text, ", groups of %" PRId64, group);
}

static void describe_compressed(struct by_llm_summary *summary, const struct by_doc_node *config)
{
    const struct by_doc_node *groups = by_doc_get(config, "config_groups");
    const struct by_doc_node *first =
        groups && groups->kind == BY_DOC_MAP && groups->count ? groups->pairs[0].value : NULL;
    const struct by_doc_node *weights = first ? by_doc_get(first, "weights") : NULL;
    if (weights)
        describe(summary, int_of(weights, "num_bits"), int_of(weights, "group_size"));
}

static void describe_fp8(struct by_llm_summary *summary, const struct by_doc_node *config)
{
    const struct by_doc_node *block = by_doc_get(config, "weight_block_size");
    struct by_text text;
    if (!block || block->kind != BY_DOC_LIST || block->count != 2 || !block->items[0]->text ||
        !block->items[1]->text)
        return;
    summary->method = "block fp8";
    by_text_init(&text, summary->scheme, sizeof summary->scheme);
    by_text_add(&text, "blocks of %.20s x %.20s", block->items[0]->text, block->items[1]->text);
}

static void describe_gguf(struct by_llm_summary *summary, const struct by_checkpoint *checkpoint)
{
    const struct by_stored_type *main_type = NULL;
    uint64_t most = 0;
    struct by_text text;
    for (size_t t = 0; by_stored_type_at(t); t++) {
        uint64_t bytes = 0;
        for (size_t i = 0; i < checkpoint->tensor_count; i++)
            if (checkpoint->tensors[i].type == by_stored_type_at(t))
                bytes += checkpoint->tensors[i].bytes;
        if (bytes > most && by_stored_type_at(t)->elem == BY_ELEM_UNDEFINED) {
            most = bytes;
            main_type = by_stored_type_at(t);
        }
    }
    if (!main_type)
        return;
    summary->method = "gguf";
    by_text_init(&text, summary->scheme, sizeof summary->scheme);
    by_text_add(&text, "%s, %.4g bits", main_type->name, by_stored_bits(main_type));
}

/* Without a word in config.json: the tensors of DeepSeek and of FP8 have names of their own. */
static void guess_scheme(struct by_llm_summary *summary, const struct by_checkpoint *checkpoint)
{
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const char *name = checkpoint->tensors[i].name;
        if (by_has_suffix(name, ".weight_scale_inv"))
            summary->method = "block fp8";
        else if (!summary->method && by_has_suffix(name, ".qweight"))
            summary->method = "awq or gptq";
        else if (!summary->method && checkpoint->tensors[i].type->elem == BY_ELEM_FLOAT8E4M3FN)
            summary->method = "fp8";
    }
}

void by_llm_find_scheme(struct by_llm_summary *summary, const struct by_checkpoint *checkpoint)
{
    const struct by_doc_node *config =
        checkpoint->config ? by_doc_get(checkpoint->config, "quantization_config") : NULL;
    const char *method = config ? by_hf_string(config, "quant_method") : NULL;
    if (checkpoint->container == BY_GGUF) {
        describe_gguf(summary, checkpoint);
        return;
    }
    if (!method) {
        guess_scheme(summary, checkpoint);
        return;
    }
    summary->method = method;
    if (!strcmp(method, "quark"))
        describe_quark(summary, config);
    else if (!strcmp(method, "compressed-tensors"))
        describe_compressed(summary, config);
    else if (!strcmp(method, "fp8"))
        describe_fp8(summary, config);
    else if (!strcmp(method, "mxfp4"))
        describe(summary, 4, 32);
    else
        describe(summary, int_of(config, "bits"), int_of(config, "group_size"));
}
