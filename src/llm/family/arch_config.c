/* From GGUF's metadata to config.json. */
#include "llm/family/arch_rows.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* Each key of config.json once; head_dim stands in two rows. */
static bool row_repeats(const struct by_gguf_arch *arch, size_t index)
{
    const struct by_meta_row *row = &by_meta_rows[index];
    size_t size = strcspn(row->keys, " ");
    for (size_t i = 0; i < index; i++)
        if ((!by_meta_rows[i].archs || by_has_word(by_meta_rows[i].archs, arch->name)) &&
            strcspn(by_meta_rows[i].keys, " ") == size &&
            !memcmp(by_meta_rows[i].keys, row->keys, size))
            return true;
    return false;
}

/* The shortest decimal that is the same float: 1e-05, not 9.99999974737875e-06. */
static double float_as_written(double value)
{
    struct by_str text = {0};
    double best = value, tried;
    for (int digits = 1; digits < 9; digits++) {
        by_str_clear(&text);
        by_str_printf(&text, "%.*e", digits, value);
        if (by_parse_double(by_str_text(&text), &tried) && (float)tried == (float)value) {
            best = tried;
            break;
        }
    }
    by_str_release(&text);
    return best;
}

static int config_of_row(struct by_json *json, const struct by_meta *meta,
                         const struct by_gguf_arch *arch, const struct by_meta_row *row,
                         struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX], name[64];
    int64_t integer;
    double real;
    size_t size = strcspn(row->keys, " ");
    memcpy(name, row->keys, size);
    name[size] = '\0';
    by_meta_key(key, arch, row->suffix);
    if (row->kind == BY_META_F32 && by_meta_get_real(meta, key, &real))
        by_json_double(json, name, float_as_written(real));
    else if (row->kind == BY_META_U32 && by_meta_get_int(meta, key, &integer))
        /* A window of 0 is none. */
        integer || strcmp(name, "sliding_window") ? by_json_int(json, name, integer)
                                                  : by_json_null(json, name);
    else if (row->required)
        return by_fail(err, BARYON_ERR_INPUT, "metadata %s is missing, %s needs it", key,
                       arch->architecture);
    return 0;
}

/* Llama 3's scaling from the factors: every published model has 1, 4 and 8192 beside the factor. */
static int scaling_of_factors(struct by_json *json, double theta,
                              const struct by_config_facts *facts, struct baryon_error *err)
{
    struct by_arena arena;
    struct by_str text = {0};
    struct by_doc_node *config;
    const float *again = NULL;
    size_t count = 0;
    by_arena_init(&arena, 0);
    by_str_printf(&text,
                  "{\"head_dim\": %zu, \"rope_theta\": %.17g, \"rope_scaling\": {\"rope_type\": "
                  "\"llama3\", \"factor\": %.9g, \"low_freq_factor\": 1.0, \"high_freq_factor\": "
                  "4.0, \"original_max_position_embeddings\": 8192}}",
                  facts->count * 2, theta, (double)facts->factors[facts->count - 1]);
    int status = by_str_error(&text, err);
    if (!status)
        status = by_json_parse(&arena, text.text, text.size, "rope_scaling", &config, err);
    if (!status)
        status = by_rope_factors(&arena, config, &again, &count, err);
    for (size_t i = 0; !status && i < count; i++)
        if (fabsf(again[i] - facts->factors[i]) > 1e-4f * again[i])
            status = by_fail(err, BARYON_ERR_UNSUPPORTED,
                             "tensor rope_freqs.weight: factor %zu is %g, must be that of "
                             "rope_type llama3 (%g); no other scaling can be written",
                             i, (double)facts->factors[i], (double)again[i]);
    by_str_release(&text);
    by_arena_release(&arena);
    if (status)
        return -1;
    by_json_open(json, "rope_scaling", '{');
    by_json_text(json, "rope_type", "llama3");
    by_json_double(json, "factor", (double)facts->factors[facts->count - 1]);
    by_json_double(json, "low_freq_factor", 1);
    by_json_double(json, "high_freq_factor", 4);
    by_json_int(json, "original_max_position_embeddings", 8192);
    by_json_close(json, '}');
    return 0;
}

static int config_of_scaling(struct by_json *json, const struct by_meta *meta,
                             const struct by_gguf_arch *arch, const struct by_config_facts *facts,
                             struct baryon_error *err)
{
    char key[BY_ARCH_NAME_MAX];
    double theta = 10000, factor;
    int64_t context;
    if (by_meta_get_real(meta, by_meta_key(key, arch, "rope.freq_base"), &theta))
        by_json_double(json, "rope_theta", float_as_written(theta));
    if (by_meta_get_real(meta, by_meta_key(key, arch, "rope.freq_base_swa"), &factor))
        by_json_double(json, "rope_local_base_freq", float_as_written(factor));
    bool has_context = by_meta_get_int(
        meta, by_meta_key(key, arch, "rope.scaling.original_context_length"), &context);
    if (has_context && !strcmp(arch->name, "phi3"))
        by_json_int(json, "original_max_position_embeddings", context);
    if (facts->count)
        return scaling_of_factors(json, theta, facts, err);
    const char *type = by_meta_get_text(meta, by_meta_key(key, arch, "rope.scaling.type"));
    if (!type || !strcmp(type, "none") ||
        !by_meta_get_real(meta, by_meta_key(key, arch, "rope.scaling.factor"), &factor))
        return 0;
    by_json_open(json, "rope_scaling", '{');
    by_json_text(json, "rope_type", type);
    by_json_double(json, "factor", float_as_written(factor));
    if (has_context)
        by_json_int(json, "original_max_position_embeddings", context);
    by_json_close(json, '}');
    return 0;
}

static void config_of_tokens(struct by_json *json, const struct by_meta *meta)
{
    static const char *const rows[][2] = {{"bos_token_id", "tokenizer.ggml.bos_token_id"},
                                          {"eos_token_id", "tokenizer.ggml.eos_token_id"},
                                          {"pad_token_id", "tokenizer.ggml.padding_token_id"}};
    int64_t id;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (by_meta_get_int(meta, rows[i][1], &id))
            by_json_int(json, rows[i][0], id);
        else
            by_json_null(json, rows[i][0]);
}

static const char *activation_of(const struct by_gguf_arch *arch)
{
    return arch->plus_one ? "gelu_pytorch_tanh" : "silu";
}

int by_config_of_meta(struct by_str *out, const struct by_meta *meta,
                      const struct by_gguf_arch *arch, const struct by_config_facts *facts,
                      struct baryon_error *err)
{
    struct by_json json;
    by_json_init(&json, out, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "architectures", '[');
    by_json_text(&json, NULL, arch->architecture);
    by_json_close(&json, ']');
    by_json_text(&json, "model_type", arch->model_type);
    by_json_text(&json, "torch_dtype", facts->type);
    by_json_text(&json, arch->plus_one ? "hidden_activation" : "hidden_act", activation_of(arch));
    for (size_t i = 0; i < by_meta_row_count; i++) {
        const struct by_meta_row *row = &by_meta_rows[i];
        if ((row->archs && !by_has_word(row->archs, arch->name)) || row_repeats(arch, i) ||
            !strcmp(row->suffix, "vocab_size"))
            continue;
        if (config_of_row(&json, meta, arch, row, err))
            return -1;
    }
    by_json_int(&json, "vocab_size", (int64_t)facts->vocab);
    by_json_bool(&json, "tie_word_embeddings", facts->tied);
    if (!by_has_word("qwen2 qwen2moe phi3", arch->name))
        by_json_bool(&json, "attention_bias", facts->bias);
    config_of_tokens(&json, meta);
    if (config_of_scaling(&json, meta, arch, facts, err))
        return -1;
    by_json_close(&json, '}');
    by_str_puts(out, "\n");
    return by_str_error(out, err);
}
