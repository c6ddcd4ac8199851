/* Opens what is converted and finds out into what. */
#include "llm/opened.h"

#include "base/thread.h"

#include <inttypes.h>
#include <string.h>

void by_llm_converted_release(struct by_llm_converted *converted)
{
    by_str_release(&converted->notices);
}

struct by_made_tensor *by_made_tensor_add(struct by_convert_run *run, const char *name,
                                          struct baryon_error *err)
{
    struct by_list any = {run->made.at, run->made.count, run->made.cap};
    if (by_list_reserve(&run->arena, &any, 1, sizeof *run->made.at, err))
        return NULL;
    run->made.at = any.at;
    run->made.cap = any.cap;
    struct by_made_tensor *made = &run->made.at[run->made.count];
    *made = (struct by_made_tensor){.name = by_arena_text(&run->arena, name, strlen(name), err)};
    if (!made->name)
        return NULL;
    run->made.count++;
    return made;
}

uint64_t by_convert_heads(const struct by_convert_run *run, enum by_llm_role role, int64_t heads,
                          int64_t heads_kv)
{
    if (!run->arch->permute || (role != BY_LLM_Q && role != BY_LLM_K))
        return 0;
    return (uint64_t)(role == BY_LLM_Q ? heads : heads_kv);
}

int by_convert_declare(struct by_convert_run *run, struct by_new_tensor **tensors,
                       struct baryon_error *err)
{
    const struct by_made_list *list = &run->made;
    *tensors = by_arena_alloc(&run->arena, list->count, sizeof **tensors, err);
    for (size_t i = 0; *tensors && i < list->count; i++) {
        const struct by_made_tensor *made = &list->at[i];
        struct by_new_tensor *tensor = &(*tensors)[i];
        tensor->name = made->name;
        tensor->type = by_stored_type_by_ggml((uint32_t)made->type->number);
        tensor->rank = made->rank;
        memcpy(tensor->dims, made->dims, sizeof tensor->dims);
        run->done->bytes_out += by_made_bytes(made);
    }
    run->done->tensors = list->count;
    return *tensors ? 0 : -1;
}

/* The tensor that is put, and the bytes of it that were. */
struct putting {
    by_convert_put_fn *put;
    void *writer;
    size_t tensor;
    uint64_t at;
};

static int put_next(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    struct putting *putting = context;
    uint64_t at = putting->at;
    putting->at += size;
    return putting->put(putting->writer, putting->tensor, at, bytes, size, err);
}

int by_convert_put(struct by_convert_run *run, size_t tensor, by_convert_put_fn *put, void *writer,
                   struct baryon_error *err)
{
    struct putting putting = {.put = put, .writer = writer, .tensor = tensor};
    struct by_made_fate *fate = run->fates ? &run->fates[tensor] : NULL;
    const double begun = by_seconds();
    const int status = by_made_write(&run->made.at[tensor], run->in, run->pool, put_next, &putting,
                                     fate ? fate->errors : NULL, err);
    if (fate)
        fate->seconds = by_seconds() - begun;
    return status;
}

static int list_weights(struct by_convert_run *run, struct baryon_error *err)
{
    const struct by_llm_source *source = run->source;
    run->listed = by_arena_alloc(&run->arena, source->count, sizeof *run->listed, err);
    for (size_t i = 0; run->listed && i < source->count; i++)
        run->listed[i] = (struct by_family_tensor){source->weights[i].name, source->weights[i].dims,
                                                   source->weights[i].rank};
    return run->listed ? 0 : -1;
}

static int list_tensors(struct by_convert_run *run, struct baryon_error *err)
{
    const struct by_checkpoint *in = run->in;
    run->listed = by_arena_alloc(&run->arena, in->tensor_count, sizeof *run->listed, err);
    for (size_t i = 0; run->listed && i < in->tensor_count; i++)
        run->listed[i] = (struct by_family_tensor){in->tensors[i].name, in->tensors[i].dims,
                                                   in->tensors[i].rank};
    return run->listed ? 0 : -1;
}

int by_convert_begin(struct by_convert_run *run, struct baryon_error *err)
{
    const size_t count = run->source ? run->source->count : run->in->tensor_count;
    return (run->source ? list_weights(run, err) : list_tensors(run, err)) ||
                   by_family_read(&run->family, &run->arena, run->in->config, run->listed, count,
                                  err)
               ? -1
               : 0;
}

static int run_convert(struct by_convert_run *run, struct baryon_error *err)
{
    by_arena_init(&run->arena, 0);
    by_meta_init(&run->meta, &run->arena);
    int status = by_convert_begin(run, err) ||
                 by_pool_open(&run->pool, run->options->threads, err) ||
                 (run->source ? by_convert_to_gguf(run, err) : by_convert_to_folder(run, err));
    by_pool_close(run->pool);
    by_arena_release(&run->arena);
    return status ? -1 : 0;
}

/* Whatever is read becomes a GGUF file: its weights are floats under the names of a folder. */
static int convert_to_gguf(struct by_convert_run *run, struct baryon_error *err)
{
    struct by_llm_opened opened;
    int status =
        by_llm_open(&opened, run->options->in, BY_LLM_STACKS_SPLIT, BY_LLM_NAMES_FOLDER, err);
    run->in = opened.checkpoint;
    run->source = &opened.source;
    run->opened = &opened;
    run->made_files = opened.files.config.size ? &opened.files : NULL;
    if (!status)
        status = run_convert(run, err);
    if (!status)
        by_str_puts(&run->done->notices, by_str_text(&opened.done.notices));
    by_llm_close(&opened);
    return status;
}

static int convert_to_folder(struct by_convert_run *run, struct baryon_error *err)
{
    if (by_checkpoint_open(&run->in, run->options->in, err))
        return -1;
    int status;
    if (run->in->container == BY_GGUF)
        status = run_convert(run, err);
    else
        status = by_fail(err, BARYON_ERR_USAGE,
                         "input and output are both safetensors, one must be a .gguf file");
    by_checkpoint_close(run->in);
    return status;
}

int by_llm_convert(const struct by_llm_convert *convert, struct by_llm_converted *converted,
                   struct baryon_error *err)
{
    struct by_convert_run run = {.options = convert, .done = converted};
    *converted = (struct by_llm_converted){.to_gguf = by_has_suffix(convert->out, ".gguf")};
    return converted->to_gguf ? convert_to_gguf(&run, err) : convert_to_folder(&run, err);
}
