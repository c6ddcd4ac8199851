/* From a folder of safetensors to a GGUF file that llama.cpp loads. */
#include "llm/convert_internal.h"
#include "llm/convert_meta.h"
#include "llm/family/tokenizer.h"
#include "llm/float_types.h"
#include "llm/ggml/mixture.h"
#include "llm/importance.h"
#include "llm/layout/match.h"
#include "llm/layout/source.h"
#include "llm/notes.h"
#include "llm/output.h"
#include "llm/store/gguf_write.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOKENIZER_BYTES ((size_t)256 << 20)

struct to_gguf {
    struct by_convert_run *run;
    const struct by_ggml_mixture *mix;
    int64_t heads, heads_kv;
    uint64_t vocab;       /* rows of the embedding */
    uint64_t fell_back;   /* tensors */
    uint64_t expert_size; /* elements of all experts */
    uint64_t elements;
    struct by_map stacks; /* name of a stack -> its index + 1 in run->made */
};

static int find_arch(struct to_gguf *to, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    char list[256], quoted[BY_QUOTE_MAX];
    const char *forced = run->options->arch, *type = run->family.model_type;
    by_gguf_arch_list(list, sizeof list);
    if (!run->in->config)
        return by_fail(err, BARYON_ERR_INPUT, "there is no config.json, a GGUF file needs it");
    run->arch =
        forced ? by_gguf_arch_named(forced, run->family.experts > 0) : by_gguf_arch_of_model(type);
    if (!run->arch && forced)
        return by_fail(err, BARYON_ERR_USAGE, "--force-arch %s, must be one of %s",
                       by_quote(quoted, forced), list);
    if (!run->arch)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "model_type %s is none that GGUF is written for (%s); --force-arch takes "
                       "the rules of one of them",
                       by_quote(quoted, type), list);
    if (!by_hf_int(run->family.config, "num_attention_heads n_head", &to->heads) || to->heads < 1)
        return by_fail(err, BARYON_ERR_INPUT,
                       "num_attention_heads is missing or 0, must be at least 1");
    if (!by_hf_int(run->family.config, "num_key_value_heads", &to->heads_kv) || to->heads_kv < 1)
        to->heads_kv = to->heads;
    return 0;
}

/* The tensor that a source becomes, or becomes a part of. */
static struct by_made_tensor *made_of(struct to_gguf *to, const char *name, int64_t expert,
                                      const struct by_llm_weight *source, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    size_t parts = expert >= 0 ? (size_t)run->family.experts : 1, skip = expert >= 0;
    uintptr_t known = expert >= 0 ? (uintptr_t)by_map_get(&to->stacks, name) : 0;
    if (known)
        return &run->made.at[known - 1];
    struct by_made_tensor *made = by_made_tensor_add(run, name, err);
    if (!made || !(made->parts = by_arena_alloc(&run->arena, parts, sizeof(void *), err)))
        return NULL;
    made->part_count = parts;
    made->rank = source->rank + skip;
    made->dims[0] = parts;
    memcpy(made->dims + skip, source->dims, source->rank * sizeof *made->dims);
    if (expert >= 0 && by_map_put(&to->stacks, made->name, (void *)(uintptr_t)run->made.count, err))
        return NULL;
    return made;
}

/* Floats of the file are taken as they are, everything else by its rows. */
static int take_part(struct to_gguf *to, struct by_made_tensor *made, size_t place,
                     const struct by_llm_weight *source, struct baryon_error *err)
{
    made->parts[place] = source->stored;
    if (source->as == BY_LLM_AS_FLOATS || source->as == BY_LLM_AS_OTHER)
        return 0;
    made->source = to->run->source;
    if (!made->weights)
        made->weights = by_arena_alloc(&to->run->arena, made->part_count, sizeof(void *), err);
    if (!made->weights)
        return -1;
    made->weights[place] = source;
    return 0;
}

static int refuse_name(const struct to_gguf *to, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "tensor %s has no name in GGUF's architecture %s, every tensor of the decoder "
                   "must have one",
                   by_quote(quoted, name), to->run->arch->name);
}

static bool is_norm(const struct by_tensor_role *role)
{
    return role->param == BY_LLM_PARAM_WEIGHT &&
           (role->role == BY_LLM_NORM || role->role == BY_LLM_Q_NORM ||
            role->role == BY_LLM_K_NORM);
}

static int add_source(struct to_gguf *to, const struct by_llm_weight *source,
                      const struct by_tensor_role *role, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    char name[BY_ARCH_NAME_MAX], quoted[BY_QUOTE_MAX];
    int64_t expert;
    if (!by_gguf_name_of(run->arch, source->name, name, &expert))
        return refuse_name(to, source->name, err);
    if (source->rank > 3 || !source->rank)
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s has %zu dimensions, must have 1 to 3",
                       by_quote(quoted, source->name), source->rank);
    if (expert >= 0 && (uint64_t)expert >= run->family.experts)
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s: expert %" PRIi64 ", must be below their number in config.json "
                       "(%" PRIu64 ")",
                       by_quote(quoted, source->name), expert, run->family.experts);
    struct by_made_tensor *made = made_of(to, name, expert, source, err);
    if (!made)
        return -1;
    if (take_part(to, made, expert >= 0 ? (size_t)expert : 0, source, err))
        return -1;
    made->heads = by_convert_heads(run, role->role, to->heads, to->heads_kv);
    made->add = is_norm(role) && run->arch->plus_one ? 1 : 0;
    if (role->role == BY_LLM_EMBEDDING)
        to->vocab = source->dims[0];
    const uint64_t elements = (uint64_t)source->rows * source->columns;
    to->elements += elements;
    to->expert_size += expert >= 0 ? elements : 0;
    return 0;
}

/* Buffers are computed by whoever runs the model; Gemma's head is its embedding. */
static bool is_left(const struct to_gguf *to, const struct by_tensor_role *role)
{
    return role->part != BY_LLM_PART_DECODER || role->role == BY_LLM_BUFFER ||
           (role->role == BY_LLM_HEAD && to->run->arch->plus_one);
}

static int add_sources(struct to_gguf *to, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    size_t parts[BY_LLM_PART_MTP + 1] = {0};
    for (size_t i = 0; i < run->source->count; i++) {
        const struct by_llm_weight *source = &run->source->weights[i];
        const struct by_tensor_role *role = &run->family.roles[i];
        run->done->bytes_in += by_llm_source_bytes(source);
        if (is_left(to, role)) {
            run->done->left++;
            if (role->part != BY_LLM_PART_DECODER)
                parts[role->part]++;
        } else if (add_source(to, source, role, err)) {
            return -1;
        }
    }
    for (size_t part = 0; part <= BY_LLM_PART_MTP; part++)
        if (parts[part]) {
            by_plural(&run->done->notices, parts[part], "tensor");
            by_str_printf(&run->done->notices, " of another part (%s) left out\n",
                          by_llm_part_text((enum by_llm_part)part));
        }
    return 0;
}

static int add_values(struct to_gguf *to, const char *name, const float *values, size_t count,
                      struct baryon_error *err)
{
    struct by_made_tensor *made = count ? by_made_tensor_add(to->run, name, err) : NULL;
    if (!made)
        return count ? -1 : 0;
    made->rank = 1;
    made->dims[0] = count;
    made->values = values;
    made->type = by_ggml_type(BY_GGML_F32);
    return 0;
}

static int add_factors(struct to_gguf *to, struct baryon_error *err)
{
    static const char *const rows[][2] = {{"rope_factors_long.weight", "long_factor"},
                                          {"rope_factors_short.weight", "short_factor"}};
    struct by_convert_run *run = to->run;
    const struct by_doc_node *config = run->family.config;
    const float *values = NULL;
    size_t count;
    if (by_rope_factors(&run->arena, config, &values, &count, err) ||
        add_values(to, "rope_freqs.weight", values, count, err))
        return -1;
    for (size_t i = 0; i < 2; i++)
        if (by_rope_list(&run->arena, config, rows[i][1], &values, &count, err) ||
            add_values(to, rows[i][0], values, count, err))
            return -1;
    return 0;
}

/* Every stack has all of its experts, and every shape fits. */
static int check_made(const struct to_gguf *to, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < to->run->made.count; i++) {
        const struct by_made_tensor *made = &to->run->made.at[i];
        for (size_t part = 0; part < made->part_count; part++)
            if (!made->parts[part])
                return by_fail(err, BARYON_ERR_INPUT,
                               "expert %zu of %s is missing, config.json says there are %zu", part,
                               by_quote(quoted, made->name), made->part_count);
        if (by_made_check(made, err))
            return -1;
    }
    return 0;
}

static long made_layer(const struct by_made_tensor *made)
{
    return strncmp(made->name, "blk.", 4) ? -1 : strtol(made->name + 4, NULL, 10);
}

/* By layer, then by name: the file does not depend on the order of the source. */
static int compare_made(const void *left, const void *right)
{
    const struct by_made_tensor *a = left, *b = right;
    long first = made_layer(a), second = made_layer(b);
    return first != second ? (first > second) - (first < second) : strcmp(a->name, b->name);
}

/* "135M", "8x7B": what llama.cpp shows as the size. */
static void put_size_label(struct to_gguf *to)
{
    static const struct {
        double unit;
        const char *letter;
    } units[] = {{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}};
    char text[48];
    struct by_text label;
    uint64_t experts = to->expert_size ? to->run->family.experts : 0;
    uint64_t size = to->elements - to->expert_size + (experts ? to->expert_size / experts : 0);
    size_t unit = 0;
    while (unit < 3 && (double)size <= units[unit].unit)
        unit++;
    double scaled = (double)size / units[unit].unit;
    by_text_init(&label, text, sizeof text);
    if (experts)
        by_text_add(&label, "%" PRIu64 "x", experts);
    by_text_add(&label, scaled < 9.5 ? "%.1f%s" : "%.0f%s", scaled, units[unit].letter);
    by_meta_set_text(&to->run->meta, "general.size_label", text);
}

/* The name of the folder, which is what a model is called. */
static void put_name(struct to_gguf *to)
{
    char name[256];
    struct by_text text;
    const char *path = to->run->options->in;
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--)
        continue;
    by_text_init(&text, name, sizeof name);
    by_text_add(&text, "%.*s", (int)(end - begin), path + begin);
    by_meta_set_text(&to->run->meta, "general.name", name);
}

/* Those of a GGUF file, or of the folder's README.md. */
static int put_notes(struct to_gguf *to, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    if (run->in->gguf)
        return by_llm_notes_keep(&run->meta, &run->opened->unfolded.meta, err);
    return run->in->is_folder
               ? by_llm_notes_read(&run->meta, run->in->folder, &run->done->notices, err)
               : 0;
}

static int make_meta(struct to_gguf *to, struct baryon_error *err)
{
    struct by_meta *meta = &to->run->meta;
    by_meta_set_text(meta, "general.architecture", to->run->arch->name);
    by_meta_set_text(meta, "general.type", "model");
    put_name(to);
    if (put_notes(to, err))
        return -1;
    put_size_label(to);
    if (by_meta_of_config(meta, to->run->arch, to->run->family.config, err))
        return by_err_file(err, "config.json");
    by_meta_set_u32(meta, "general.file_type", to->mix->file_type);
    by_meta_set_u32(meta, "general.quantization_version", 2);
    return by_meta_error(meta, err);
}

/* The tokenizer that was made of a GGUF file. */
static int parse_made_files(struct by_convert_run *run, struct by_tokenizer_files *files,
                            struct baryon_error *err)
{
    const struct by_doc_limits limits = {TOKENIZER_BYTES, TOKENIZER_BYTES / 8};
    const struct by_folder_files *made = run->made_files;
    struct by_doc_node *tokenizer, *settings;
    if (!made->tokenizer.size)
        return 0;
    if (by_json_parse_within(&run->arena, made->tokenizer.text, made->tokenizer.size,
                             "tokenizer.json", limits, &tokenizer, err) ||
        by_json_parse_within(&run->arena, made->settings.text, made->settings.size,
                             "tokenizer_config.json", limits, &settings, err))
        return -1;
    files->tokenizer = tokenizer;
    files->settings = settings;
    return 0;
}

static int read_files(struct by_convert_run *run, struct by_tokenizer_files *files,
                      struct by_mapped *model, char **chat, struct baryon_error *err)
{
    char path[4096];
    size_t size;
    if (by_checkpoint_json(run->in, "tokenizer_config.json", TOKENIZER_BYTES, &files->settings,
                           err) ||
        by_checkpoint_json(run->in, "added_tokens.json", TOKENIZER_BYTES, &files->added, err))
        return -1;
    if (by_join_path(path, sizeof path, run->in->folder, "tokenizer.model") &&
        by_file_exists(path)) {
        if (by_mapped_open(model, path, err))
            return -1;
        files->model = model->bytes;
        files->model_size = model->size;
    } else if (by_checkpoint_json(run->in, "tokenizer.json", TOKENIZER_BYTES, &files->tokenizer,
                                  err)) {
        return -1;
    }
    if (by_join_path(path, sizeof path, run->in->folder, "chat_template.jinja") &&
        by_file_exists(path) && by_read_file(path, 1 << 20, chat, &size, err))
        return -1;
    files->chat_template = *chat;
    return 0;
}

static int read_tokenizer(struct to_gguf *to, struct by_mapped *model, char **chat,
                          struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    struct by_tokenizer_files files = {.config = run->family.config};
    if (run->made_files ? parse_made_files(run, &files, err)
                        : read_files(run, &files, model, chat, err))
        return -1;
    return by_meta_of_tokenizer(&run->meta, &files, to->vocab, &run->done->notices, err);
}

static bool is_large(const struct to_gguf *to)
{
    const char *name = to->run->arch->name;
    return to->run->family.layers == 80 &&
           (!strcmp(name, "qwen2") || (!strcmp(name, "llama") && to->heads != to->heads_kv));
}

/* --- Types --- */

/* The type that a rule names: one of single tensors, or the main one of a mixture. */
static const struct by_ggml_type *rule_type(const struct by_llm_convert_rule *rule,
                                            const struct by_made_tensor *made,
                                            struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!rule->type) {
        const struct by_llm_weight *weight = made->weights ? made->weights[0] : NULL;
        const struct by_stored_type *stored =
            weight ? by_stored_type_by_elem((enum by_elem)by_llm_source_elem(weight))
                   : made->parts[0]->type;
        return by_ggml_type((uint32_t)stored->ggml);
    }
    const struct by_ggml_mixture *mixture = by_ggml_mixture_named(rule->type);
    const struct by_ggml_type *type =
        mixture ? by_ggml_type(mixture->base) : by_ggml_type_named(rule->type);
    if (!type || !type->encode)
        by_fail(err, BARYON_ERR_USAGE, "pattern %s: type %s is none that GGUF is written in",
                rule->pattern, by_quote(quoted, rule->type));
    return type && type->encode ? type : NULL;
}

/* The rule for a tensor by the layers that it is made of; -1: a pattern is none. */
static int find_rule(const struct by_convert_run *run, const struct by_made_tensor *made,
                     bool *used, const struct by_llm_convert_rule **rule, struct baryon_error *err)
{
    *rule = NULL;
    for (size_t i = 0; i < run->options->rule_count; i++)
        for (size_t part = 0; part < made->part_count; part++) {
            char layer[BY_ARCH_NAME_MAX];
            struct by_text text;
            const char *name = made->weights && made->weights[part] ? made->weights[part]->name
                                                                    : made->parts[part]->name;
            const size_t cut = by_has_suffix(name, ".weight") ? strlen(".weight") : 0;
            by_text_init(&text, layer, sizeof layer);
            by_text_add(&text, "%.*s", (int)(strlen(name) - cut), name);
            const int found = by_llm_match(run->options->rules[i].pattern, layer, err);
            if (found < 0)
                return -1;
            used[i] = used[i] || found;
            if (found && !*rule)
                *rule = &run->options->rules[i];
        }
    return 0;
}

static int apply_rule(struct to_gguf *to, size_t tensor, bool *used,
                      const struct by_ggml_type **wanted, struct baryon_error *err)
{
    struct by_made_tensor *made = &to->run->made.at[tensor];
    const struct by_llm_convert_rule *rule;
    if (find_rule(to->run, made, used, &rule, err))
        return -1;
    if (!rule)
        return 0;
    if (!(*wanted = rule_type(rule, made, err)))
        return -1;
    made->type = by_ggml_fallback(*wanted, by_made_width(made));
    to->run->fates[tensor].excluded = !rule->type;
    return 0;
}

static struct by_ggml_model facts_of_model(const struct to_gguf *to)
{
    const struct by_family *family = &to->run->family;
    const struct by_made_list *list = &to->run->made;
    struct by_ggml_model model = {.layers = (size_t)family->layers,
                                  .experts = (size_t)family->experts,
                                  .heads = (size_t)to->heads,
                                  .kv_heads = (size_t)to->heads_kv,
                                  .tied = family->tied || to->run->arch->plus_one,
                                  .is_70b = is_large(to),
                                  .importance = to->run->options->importance != NULL};
    for (size_t i = 0; i < list->count; i++)
        model.attn_values +=
            list->at[i].rank > 1 && by_ggml_kind_of(list->at[i].name) == BY_GGML_ATTN_V;
    return model;
}

static void count_type(struct by_llm_converted *done, const struct by_made_tensor *made)
{
    const uint64_t values = by_made_rows(made) * by_made_width(made);
    const bool blocks = made->type->block > 1;
    done->in_blocks += blocks;
    *(blocks ? &done->weights : &done->others) += values;
}

/* Types by llama-quantize's rules, then by those of the user; vectors, norms and routers are
 * float32. */
static int choose_types(struct to_gguf *to, bool *used, struct baryon_error *err)
{
    struct by_made_list *list = &to->run->made;
    size_t counts[BY_GGML_FFN_DOWN + 1] = {0};
    const struct by_ggml_model model = facts_of_model(to);
    for (size_t i = 0; i < list->count; i++) {
        struct by_made_tensor *made = &list->at[i];
        const struct by_ggml_type *before = by_ggml_type(BY_GGML_F32);
        long layer = made_layer(made);
        enum by_ggml_kind kind = by_ggml_kind_of(made->name);
        made->type = before;
        if (!made->values && made->rank > 1 && by_ggml_may_quantize(made->name, made->rank)) {
            struct by_ggml_tensor tensor = {.name = made->name,
                                            .width = by_made_width(made),
                                            .matrices = made->rank == 3 ? made->dims[0] : 1,
                                            .index = counts[kind]++,
                                            .layer = layer < 0 ? 0 : (size_t)layer};
            made->type = by_ggml_choose(to->mix, &model, &tensor, &before);
            if (apply_rule(to, i, used, &before, err))
                return -1;
            to->run->fates[i].wanted = before;
        }
        to->fell_back += made->type != before;
        count_type(to->run->done, made);
    }
    return 0;
}

/* Of a report, the sums of errors of parts too. */
static int make_fates(struct by_convert_run *run, struct baryon_error *err)
{
    run->fates = by_arena_alloc(&run->arena, run->made.count + 1, sizeof *run->fates, err);
    if (!run->fates)
        return -1;
    for (size_t i = 0; run->options->report && i < run->made.count; i++) {
        struct by_made_fate *fate = &run->fates[i];
        fate->errors =
            by_arena_alloc(&run->arena, run->made.at[i].part_count + 1, sizeof *fate->errors, err);
        if (!fate->errors)
            return -1;
    }
    return 0;
}

static int choose_all(struct to_gguf *to, struct baryon_error *err)
{
    const struct by_llm_convert *options = to->run->options;
    char quoted[BY_QUOTE_MAX];
    bool *used = by_arena_alloc(&to->run->arena, options->rule_count + 1, sizeof *used, err);
    if (!used || make_fates(to->run, err) || choose_types(to, used, err) ||
        (options->importance && by_convert_weigh(to->run, err)))
        return -1;
    for (size_t i = 0; i < options->rule_count; i++)
        if (!used[i])
            return by_fail(err, BARYON_ERR_USAGE, "pattern %s matches no matrix",
                           by_quote(quoted, options->rules[i].pattern));
    if (!to->fell_back)
        return 0;
    by_plural(&to->run->done->notices, to->fell_back, "tensor");
    by_str_puts(&to->run->done->notices, " with rows that blocks of the wanted type do not divide: "
                                         "smaller blocks are taken\n");
    return 0;
}

static void list_mixtures(char *buf, size_t size)
{
    struct by_text text;
    const struct by_ggml_mixture *mixture;
    by_text_init(&text, buf, size);
    for (size_t i = 0; (mixture = by_ggml_mixture_at(i)); i++)
        by_text_add(&text, "%s%s", i ? ", " : "", mixture->name);
}

static int plan_gguf(struct to_gguf *to, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    char mixes[512], quoted[BY_QUOTE_MAX];
    const char *type = run->options->type ? run->options->type : "bf16";
    const struct by_choice *floats = by_llm_float_type(type);
    to->mix = by_ggml_mixture_named(
        floats ? by_ggml_type((uint32_t)by_stored_type_by_elem((enum by_elem)floats->value)->ggml)
                     ->name
               : type);
    list_mixtures(mixes, sizeof mixes);
    if (!to->mix)
        return by_fail(err, BARYON_ERR_USAGE,
                       "type %s is none that GGUF is written in, must be one of %s",
                       by_quote(quoted, type), mixes);
    if (find_arch(to, err) || by_family_check(&run->family, run->listed, err) ||
        add_sources(to, err) || add_factors(to, err) || check_made(to, err) || make_meta(to, err))
        return by_err_file(err, run->in->path);
    qsort(run->made.at, run->made.count, sizeof *run->made.at, compare_made);
    return choose_all(to, err);
}

static int put_slab(void *context, size_t tensor, uint64_t at, const uint8_t *bytes, size_t size,
                    struct baryon_error *err)
{
    return by_gguf_add(context, tensor, at, bytes, size, err);
}

/* What is solved comes first, since most of the time goes there. */
static int put_tensors(struct by_convert_run *run, struct by_gguf_writer *writer,
                       struct baryon_error *err)
{
    const struct by_convert_solve *solve = run->options->solve;
    bool *done = by_arena_alloc(&run->arena, run->made.count + 1, sizeof *done, err);
    int status = done ? 0 : -1;
    if (!status && solve)
        status = solve->run(solve->context, put_slab, writer, by_gguf_folder(writer), done, err);
    for (size_t i = 0; !status && i < run->made.count; i++)
        run->fates[i].resumed = by_gguf_has(writer, i);
    for (size_t i = 0; !status && i < run->made.count; i++)
        if (!done[i] && !run->fates[i].resumed)
            status = by_convert_put(run, i, put_slab, writer, err);
    return status;
}

/* Of what the bytes of tensors depend on, beside what headers say. */
static int key_of_run(struct by_convert_run *run, struct by_hash128 *key, struct baryon_error *err)
{
    const struct by_convert_solve *solve = run->options->solve;
    struct by_str name;
    by_str_init(&name);
    int status = solve ? solve->open(solve->context, run, &name, err) : 0;
    if (run->options->importance) {
        char content[33];
        by_str_printf(&name, " %s", by_hash128_text(run->options->importance->content, content));
    }
    if (!status)
        status =
            by_str_error(&name, err) || by_llm_output_key(run->in, by_str_text(&name), key, err);
    by_str_release(&name);
    return status ? -1 : 0;
}

static int put_all(struct by_convert_run *run, const struct by_gguf_plan *plan,
                   struct baryon_error *err)
{
    struct by_gguf_writer *writer;
    if (by_gguf_create(&writer, plan, err))
        return -1;
    const int status = put_tensors(run, writer, err) || by_checkpoint_check(run->in, err) ||
                       by_gguf_finish(writer, err);
    by_gguf_abort(writer);
    return status ? -1 : 0;
}

static int write_gguf(struct by_convert_run *run, struct baryon_error *err)
{
    const struct by_convert_solve *solve = run->options->solve;
    struct by_gguf_build build = {.arena = &run->arena};
    struct by_new_tensor *tensors;
    struct by_gguf_plan plan = {.path = run->options->out,
                                .count = run->made.count,
                                .shard_bytes = run->options->shard_bytes};
    int status = by_gguf_of_meta(&build, &run->meta, err) || by_convert_declare(run, &tensors, err);
    if (!status)
        status = key_of_run(run, &plan.key, err);
    if (!status) {
        plan.pairs = build.at;
        plan.pair_count = build.count;
        plan.tensors = tensors;
        status = put_all(run, &plan, err);
    }
    if (!status && run->options->report)
        status = by_convert_report(run, err);
    if (solve)
        solve->close(solve->context);
    return status ? -1 : 0;
}

static int declare_only(struct by_convert_run *run, struct baryon_error *err)
{
    struct by_new_tensor *tensors;
    if (by_convert_declare(run, &tensors, err))
        return -1;
    return run->options->report ? by_convert_report(run, err) : 0;
}

int by_convert_to_gguf(struct by_convert_run *run, struct baryon_error *err)
{
    struct to_gguf to = {.run = run};
    struct by_mapped model = {0};
    char *chat = NULL;
    by_map_init(&to.stacks);
    int status = plan_gguf(&to, err);
    /* What the tokenizer's keys point to is needed until they are written. */
    if (!status && !run->options->no_tokenizer)
        status = read_tokenizer(&to, &model, &chat, err);
    if (!status)
        status = run->options->dry_run ? declare_only(run, err) : write_gguf(run, err);
    if (model.bytes)
        by_mapped_close(&model);
    by_free(chat);
    by_map_release(&to.stacks);
    return status;
}
