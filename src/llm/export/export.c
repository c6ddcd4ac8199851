/* Writes the folder of an exported decoder: model, configuration, tokenizer. */
#include "llm/export/export_internal.h"

#include "ir/tensor.h"
#include "llm/output.h"
#include "onnx/load.h"
#include "onnx/save.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PATH_ROOM  4096
#define IR_VERSION 10
#define OPSET      20
#define CONTEXT_TOP                                                                                \
    ((int64_t)131072) /* what tables of angles are made for unless asked for more                  \
                       */

/* --- What cannot be exported --- */

static int check(const struct by_export *e, struct baryon_error *err)
{
    const struct by_decoder *d = e->decoder;
    if (d->experts)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "the model has %zu experts, models with experts cannot be exported",
                       d->experts);
    if (d->head_dim % 8)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "heads have %zu values, GroupQueryAttention requires a multiple of 8",
                       d->head_dim);
    for (size_t i = 0; i < d->layers; i++) {
        const size_t pairs = d->ropes[d->layer[i].rope].pairs;
        const struct by_decoder_place *parts = d->layer[i].parts;
        if (pairs % 8)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "layer %zu turns %zu pairs of values of a head, GroupQueryAttention "
                           "requires a multiple of 8",
                           i, pairs);
        if (parts[BY_PART_QKV].weight && parts[BY_PART_Q_NORM].weight)
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "layer %zu has norms of heads and one matrix for queries, keys and "
                           "values, it cannot be exported",
                           i);
    }
    return 0;
}

/* As many tokens as config.json says; of long texts other angles hold. */
static void choose_context(struct by_export *e)
{
    const struct by_doc_node *config = by_hf_text(e->opened->checkpoint->config);
    const char *rope = by_hf_string(by_doc_get(config, "rope_scaling"), "rope_type type");
    int64_t most = 4096;
    by_hf_int(config, "max_position_embeddings", &most);
    if (rope && (!strcmp(rope, "longrope") || !strcmp(rope, "su")))
        by_hf_int(config, "original_max_position_embeddings", &most);
    e->context = (size_t)(most < 1 ? 1 : most > CONTEXT_TOP ? CONTEXT_TOP : most);
    if (e->options->context)
        e->context = (size_t)e->options->context;
    e->result->context = e->context;
}

/* --- The model --- */

static uint64_t bytes_of_weights(const struct by_export *e)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < e->opened->source.count; i++)
        bytes += (uint64_t)e->opened->source.weights[i].rows *
                 e->opened->source.weights[i].columns * sizeof(float);
    return bytes;
}

static int make_model(struct by_export *e, const char *folder, struct baryon_error *err)
{
    if (by_model_new(&e->model, IR_VERSION, OPSET, err))
        return -1;
    e->graph = e->model->graph;
    /* Where there is no room for such a file, payloads stay in memory. */
    (void)by_model_spill(e->model, folder, (size_t)bytes_of_weights(e), NULL);
    return by_model_link(e->model, err) ||
                   by_model_set_opset(e->model, BY_EXPORT_MICROSOFT, 1, err) ||
                   by_export_graph(e, err)
               ? -1
               : 0;
}

static int save_model(struct by_export *e, const char *folder, struct baryon_error *err)
{
    char path[PATH_ROOM];
    struct by_saved_size size = {0};
    const struct by_save_options options = {.data = BY_SAVE_EXTERNAL, .size = &size};
    if (!by_join_path(path, sizeof path, folder, "model.onnx"))
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    if (by_model_save(e->model, path, &options, err))
        return -1;
    e->result->bytes = size.model + size.data;
    return 0;
}

static int save_genai(const struct by_export *e, const char *folder, struct baryon_error *err)
{
    char path[PATH_ROOM];
    struct by_str text = {0};
    int failed = by_export_genai(e, &text, err);
    if (!failed && !by_join_path(path, sizeof path, folder, "genai_config.json"))
        failed = by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    if (!failed)
        failed = by_write_file(path, text.text, text.size, 0, err);
    by_str_release(&text);
    return failed;
}

/* --- The folder --- */

static int open_folder(const char *out, char part[PATH_ROOM], struct baryon_error *err)
{
    size_t length = strlen(out);
    while (length > 1 && out[length - 1] == '/')
        length--;
    if (by_file_exists(out) && !by_folder_is_empty(out)) {
        by_fail(err, BARYON_ERR_USAGE, "is there and not an empty folder, must be new or empty");
        return by_err_hint(err, "choose another name");
    }
    const int size = snprintf(part, PATH_ROOM, "%.*s.part", (int)length, out);
    if (size < 0 || size >= PATH_ROOM - 80)
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    return by_make_folders(part, err) || by_empty_folder(part, err) ? -1 : 0;
}

static int write_folder(struct by_export *e, struct baryon_error *err)
{
    const char *out = e->options->out;
    char part[PATH_ROOM];
    if (open_folder(out, part, err))
        return by_err_file(err, out);
    int failed = make_model(e, part, err);
    if (failed)
        failed = by_err_file(err, e->opened->checkpoint->path);
    if (!failed)
        failed = save_model(e, part, err) || save_genai(e, part, err) ||
                 by_llm_write_beside(part, e->opened, NULL, err) ||
                 by_checkpoint_check(e->opened->checkpoint, err) ||
                 by_rename_folder(part, out, err);
    by_model_free(e->model);
    return failed ? -1 : 0;
}

static void notice_floats(const struct by_export *e, struct by_log *log)
{
    if (!e->result->packed && e->result->floats)
        by_log(log, BY_LOG_NOTICE,
               "no weights are integers in groups, all layers are floats: quantize first, for "
               "example with llm quantize --scheme int4_wo_32");
    else if (e->result->floats)
        by_log(log, BY_LOG_NOTICE, "%" PRIu64 " of %" PRIu64 " linear layers stay floats",
               e->result->floats, e->result->floats + e->result->packed);
}

int by_llm_export(const char *in, const struct by_llm_export_options *options, struct by_log *log,
                  struct by_llm_exported *result, struct baryon_error *err)
{
    struct by_llm_opened opened;
    struct by_decoder decoder = {0};
    struct by_export e = {
        .options = options, .opened = &opened, .decoder = &decoder, .result = result};
    *result = (struct by_llm_exported){0};
    int status = by_llm_open(&opened, in, BY_LLM_STACKS_SPLIT, BY_LLM_NAMES_FOLDER, err);
    if (!status) {
        status = by_decoder_open(&decoder, &opened.source, opened.checkpoint->config, err) ||
                 check(&e, err);
        if (status)
            status = by_err_file(err, in);
    }
    if (!status)
        status = by_pool_open(&e.pool, options->threads, err);
    if (!status) {
        choose_context(&e);
        status = write_folder(&e, err);
    }
    if (!status)
        notice_floats(&e, log);
    by_decoder_close(&decoder);
    by_llm_close(&opened);
    by_pool_close(e.pool);
    return status ? -1 : 0;
}
