/* From a GGUF file to a folder that transformers loads. */
#include "llm/convert_internal.h"
#include "llm/convert_meta.h"
#include "llm/family/tokenizer.h"
#include "llm/float_types.h"
#include "llm/notes.h"
#include "llm/store/safetensors_write.h"

#include <inttypes.h>
#include <string.h>

struct to_folder {
    struct by_convert_run *run;
    const struct by_ggml_type *type;
    int64_t heads, heads_kv, experts;
    struct by_config_facts facts;
};

/* A number of the architecture; `fallback` when it is not there. */
static int64_t arch_number(const struct to_folder *to, const char *name, const char *suffix,
                           int64_t fallback)
{
    struct by_str key = {0};
    int64_t value;
    by_str_printf(&key, "%s.%s", name, suffix);
    bool found = !key.failed && by_meta_get_int(&to->run->meta, by_str_text(&key), &value);
    by_str_release(&key);
    return found ? value : fallback;
}

static int find_arch(struct to_folder *to, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    char list[256], quoted[BY_QUOTE_MAX];
    const char *name = by_meta_get_text(&run->meta, "general.architecture");
    if (run->options->arch)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--force-arch requires a folder as input, a GGUF file says what it is");
    if (!name)
        return by_fail(err, BARYON_ERR_INPUT,
                       "metadata general.architecture is missing, must be there");
    by_gguf_arch_list(list, sizeof list);
    to->experts = arch_number(to, name, "expert_count", 0);
    run->arch = by_gguf_arch_named(name, to->experts > 0);
    if (!run->arch)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "architecture %s, must be one of %s",
                       by_quote(quoted, name), list);
    to->heads = arch_number(to, name, "attention.head_count", 0);
    to->heads_kv = arch_number(to, name, "attention.head_count_kv", to->heads);
    if (to->heads < 1 || to->heads_kv < 1)
        return by_fail(err, BARYON_ERR_INPUT,
                       "metadata %s.attention.head_count is missing or 0, must be at least 1",
                       name);
    return 0;
}

static int add_tensor(struct to_folder *to, const struct by_stored_tensor *source,
                      const struct by_tensor_role *role, int64_t expert, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    char name[BY_ARCH_NAME_MAX], quoted[BY_QUOTE_MAX];
    if (!by_gguf_name_back(run->arch, source->name, expert, name))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s has no name in %s, every tensor must have one",
                       by_quote(quoted, source->name), run->arch->architecture);
    struct by_made_tensor *made = by_made_tensor_add(run, name, err);
    if (!made || !(made->parts = by_arena_alloc(&run->arena, 1, sizeof(void *), err)))
        return -1;
    size_t skip = expert >= 0 ? 1 : 0;
    made->parts[0] = source;
    made->part_count = 1;
    made->rank = source->rank - skip;
    memcpy(made->dims, source->dims + skip, made->rank * sizeof *made->dims);
    made->first_row = expert > 0 ? (uint64_t)expert * made->dims[0] : 0;
    made->type = to->type;
    made->heads = by_convert_heads(run, role->role, to->heads, to->heads_kv);
    made->back = true;
    bool norm =
        role->role == BY_LLM_NORM || role->role == BY_LLM_Q_NORM || role->role == BY_LLM_K_NORM;
    made->add = norm && run->arch->plus_one ? -1 : 0;
    return by_made_check(made, err);
}

/* Factors of rotary frequencies are a part of config.json. */
static int read_factors(struct to_folder *to, const struct by_stored_tensor *source,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_checkpoint *in = to->run->in;
    if (strcmp(source->name, "rope_freqs.weight") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s cannot be converted, only rope_freqs.weight can",
                       by_quote(quoted, source->name));
    if (source->type->ggml != BY_GGML_F32 || source->rank != 1 || !source->elements)
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor rope_freqs.weight must be a vector of type F32");
    to->facts.factors = (const float *)(const void *)by_checkpoint_bytes(in, source);
    to->facts.count = (size_t)source->elements;
    return 0;
}

static int add_source(struct to_folder *to, size_t index, struct baryon_error *err)
{
    const struct by_stored_tensor *source = &to->run->in->tensors[index];
    const struct by_tensor_role *role = &to->run->family.roles[index];
    char quoted[BY_QUOTE_MAX];
    if (role->role == BY_LLM_POSITION)
        return read_factors(to, source, err);
    if (role->role == BY_LLM_HEAD)
        to->facts.tied = false;
    if (role->role == BY_LLM_EMBEDDING && source->rank == 2)
        to->facts.vocab = source->dims[0];
    if (role->role == BY_LLM_Q && role->param == BY_LLM_PARAM_BIAS)
        to->facts.bias = true;
    if (!by_gguf_name_is_stack(source->name))
        return add_tensor(to, source, role, -1, err);
    if (source->rank != 3 || source->dims[0] != (uint64_t)to->experts)
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s: experts, must be a stack of %" PRIi64 " (expert_count)",
                       by_quote(quoted, source->name), to->experts);
    for (int64_t i = 0; i < to->experts; i++)
        if (add_tensor(to, source, role, i, err))
            return -1;
    return 0;
}

/* --- The files --- */

void by_folder_files_release(struct by_folder_files *files)
{
    by_str_release(&files->config);
    by_str_release(&files->tokenizer);
    by_str_release(&files->settings);
    by_str_release(&files->notes);
}

static int put_file(const char *folder, const char *name, const struct by_str *text,
                    struct baryon_error *err)
{
    char path[4096];
    if (!text->size)
        return 0;
    if (!by_join_path(path, sizeof path, folder, name))
        return by_fail(err, BARYON_ERR_IO, "the path of %s is too long", name);
    return by_write_file(path, text->text, text->size, 0, err);
}

int by_folder_files_write(const struct by_folder_files *files, const char *folder,
                          struct baryon_error *err)
{
    return put_file(folder, "config.json", &files->config, err) ||
                   put_file(folder, "tokenizer.json", &files->tokenizer, err) ||
                   put_file(folder, "tokenizer_config.json", &files->settings, err) ||
                   put_file(folder, "README.md", &files->notes, err)
               ? -1
               : 0;
}

static int make_files(struct to_folder *to, struct by_folder_files *files, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    bool known;
    if (by_config_of_meta(&files->config, &run->meta, run->arch, &to->facts, err) ||
        by_llm_notes_write(&files->notes, &run->meta, err))
        return -1;
    if (run->options->no_tokenizer)
        return 0;
    return by_tokenizer_of_meta(&files->tokenizer, &files->settings, &run->meta, &known,
                                &run->done->notices, err);
}

/* config.json and the tokenizer, all made before anything is written. */
static int unfold(struct to_folder *to, struct by_folder_files *files, struct baryon_error *err)
{
    struct by_convert_run *run = to->run;
    if (by_meta_of_gguf(&run->meta, run->in->gguf, err) || find_arch(to, err))
        return -1;
    for (size_t i = 0; i < run->in->tensor_count; i++) {
        run->done->bytes_in += run->in->tensors[i].bytes;
        if (add_source(to, i, err))
            return -1;
    }
    if (!to->facts.vocab)
        return by_fail(err, BARYON_ERR_INPUT, "tensor token_embd.weight is missing, must be there");
    return make_files(to, files, err);
}

int by_convert_unfold(struct by_convert_run *run, int64_t elem, struct by_folder_files *files,
                      struct baryon_error *err)
{
    struct to_folder to = {.run = run, .facts = {.tied = true}};
    *files = (struct by_folder_files){0};
    to.type = by_ggml_type((uint32_t)by_stored_type_by_elem((enum by_elem)elem)->ggml);
    to.facts.type = elem == BY_ELEM_FLOAT     ? "float32"
                    : elem == BY_ELEM_FLOAT16 ? "float16"
                                              : "bfloat16";
    const int failed = unfold(&to, files, err);
    if (failed)
        by_folder_files_release(files);
    return failed ? by_err_file(err, run->in->path) : 0;
}

/* --- The folder --- */

static int put_slab(void *context, size_t tensor, uint64_t at, const uint8_t *bytes, size_t size,
                    struct baryon_error *err)
{
    return by_safetensors_put(context, tensor, at, bytes, size, err);
}

static int write_tensors(struct by_convert_run *run, struct by_safetensors_writer *writer,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < run->made.count; i++)
        if (!by_safetensors_has(writer, i) && by_convert_put(run, i, put_slab, writer, err))
            return -1;
    return 0;
}

static struct by_hash128 folder_key(const struct by_convert_run *run, int64_t elem,
                                    const struct by_folder_files *files)
{
    uint64_t stamp[4] = {(uint64_t)elem, run->options->shard_bytes};
    struct by_hash128 text = by_hash128(files->config.text, files->config.size);
    struct by_hash128 key = by_hash128(stamp, sizeof stamp);
    for (size_t i = 0; i < run->in->file_count; i++) {
        const struct stat *stat = &run->in->files[i].mapped.stat;
        const uint64_t parts[4] = {key.low, key.high, (uint64_t)stat->st_size,
                                   (uint64_t)stat->st_mtime};
        key = by_hash128(parts, sizeof parts);
    }
    key.low ^= text.low;
    key.high ^= text.high;
    return key;
}

static int write_folder(struct by_convert_run *run, int64_t elem,
                        const struct by_folder_files *files, struct baryon_error *err)
{
    static const struct by_stored_note note = {"format", "pt"};
    struct by_safetensors_writer *writer;
    struct by_new_tensor *tensors;
    if (by_convert_declare(run, &tensors, err))
        return -1;
    struct by_safetensors_plan plan = {
        .path = run->options->out,
        .tensors = tensors,
        .count = run->made.count,
        .shard_bytes = run->options->shard_bytes ? run->options->shard_bytes : BY_SHARD_BYTES,
        .notes = &note,
        .note_count = 1,
        .key = folder_key(run, elem, files),
    };
    if (by_safetensors_create(&writer, &plan, err))
        return -1;
    const int failed = write_tensors(run, writer, err) ||
                       by_folder_files_write(files, by_safetensors_folder(writer), err) ||
                       by_checkpoint_check(run->in, err) || by_safetensors_finish(writer, err);
    by_safetensors_abort(writer);
    return failed ? -1 : 0;
}

int by_convert_to_folder(struct by_convert_run *run, struct baryon_error *err)
{
    struct by_folder_files files;
    char quoted[BY_QUOTE_MAX], list[128];
    const char *name = run->options->type ? run->options->type : "bf16";
    const struct by_choice *type = by_llm_float_type(name);
    by_llm_float_list(list, sizeof list);
    if (!type)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--type %s, must be one of %s for a folder of safetensors",
                       by_quote(quoted, name), list);
    if (by_convert_unfold(run, type->value, &files, err))
        return -1;
    const int status = write_folder(run, type->value, &files, err);
    by_folder_files_release(&files);
    return status;
}
