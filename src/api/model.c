/* The public interface: models as files, and what they say beside their graph. */
#include "api/api.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "onnx/schema.h"

/* --- load --- */

int by_api_load_options(struct by_load_options *out, const struct baryon_load_options *theirs,
                        struct baryon_error *err)
{
    struct baryon_load_options options = {.size = sizeof options};
    if (by_api_options(&options, sizeof options, theirs, err))
        return -1;
    *out = (struct by_load_options){.no_external = options.without_data,
                                    .allow_links = options.allow_links};
    return 0;
}

/* Takes the model over. */
static int link_loaded(struct baryon_model **out, struct baryon_model *model,
                       struct baryon_error *err)
{
    if (by_model_link(model, err)) {
        by_model_free(model);
        return -1;
    }
    *out = model;
    return 0;
}

int baryon_model_load(struct baryon_model **out, const char *path,
                      const struct baryon_load_options *theirs, struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(path, err))
        return -1;
    struct by_load_options options;
    struct baryon_model *model;
    *out = NULL;
    if (by_api_load_options(&options, theirs, err) || by_model_load(&model, path, &options, err))
        return -1;
    return link_loaded(out, model, err);
}

int baryon_model_load_bytes(struct baryon_model **out, const void *bytes, size_t size,
                            const char *folder, const struct baryon_load_options *theirs,
                            struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED_LIST(bytes, size, err))
        return -1;
    struct by_load_options options;
    struct baryon_model *model;
    *out = NULL;
    if (by_api_load_options(&options, theirs, err) ||
        by_model_load_bytes(&model, bytes, size, folder, &options, err))
        return -1;
    return link_loaded(out, model, err);
}

/* Those that `baryon check` accepts. */
static int check_versions(int64_t ir_version, int64_t opset, struct baryon_error *err)
{
    if (ir_version < BY_ONNX_IR_MIN || ir_version > BY_ONNX_IR_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "IR version %lld, known are %d to %d",
                       (long long)ir_version, BY_ONNX_IR_MIN, BY_ONNX_IR_MAX);
    if (opset < BY_ONNX_OPSET_MIN || opset > BY_ONNX_OPSET_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "opset %lld, known are %d to %d", (long long)opset,
                       BY_ONNX_OPSET_MIN, BY_ONNX_OPSET_MAX);
    return 0;
}

int baryon_model_new(struct baryon_model **out, int64_t ir_version, int64_t opset,
                     struct baryon_error *err)
{
    if (BY_NEED(out, err))
        return -1;
    struct baryon_model *model;
    *out = NULL;
    if (check_versions(ir_version, opset, err) || by_model_new(&model, ir_version, opset, err))
        return -1;
    return link_loaded(out, model, err);
}

void baryon_model_free(struct baryon_model *model)
{
    by_model_free(model);
}

/* --- save --- */

static int take_save_options(struct by_save_options *out, const struct baryon_save_options *theirs,
                             struct baryon_error *err)
{
    static const enum by_save_mode modes[] = {
        [BARYON_SAVE_KEEP] = BY_SAVE_KEEP,
        [BARYON_SAVE_EXTERNAL] = BY_SAVE_EXTERNAL,
        [BARYON_SAVE_INLINE] = BY_SAVE_INLINE,
    };
    struct baryon_save_options options = {.size = sizeof options};
    if (by_api_options(&options, sizeof options, theirs, err))
        return -1;
    if ((size_t)options.data >= sizeof modes / sizeof *modes)
        return by_fail(err, BARYON_ERR_USAGE, "%d is not a valid way to save data",
                       (int)options.data);
    if (options.external_min > SIZE_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "external_min is too large");
    *out = (struct by_save_options){
        .data = modes[options.data],
        .external_file = options.external_file,
        .external_min = (size_t)options.external_min,
        .writer_flags = (options.keep_existing ? BY_WRITER_EXCLUSIVE : 0u) |
                        (options.no_sync ? BY_WRITER_NO_SYNC : 0u),
    };
    return 0;
}

int baryon_model_save(struct baryon_model *model, const char *path,
                      const struct baryon_save_options *theirs, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(path, err))
        return -1;
    struct by_save_options options;
    if (take_save_options(&options, theirs, err))
        return -1;
    return by_model_save(model, path, &options, err);
}

int baryon_model_save_bytes(struct baryon_model *model, void **bytes, size_t *size,
                            struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(bytes, err) || BY_NEED(size, err))
        return -1;
    struct by_str out;
    *bytes = NULL;
    *size = 0;
    by_str_init(&out);
    if (by_model_save_bytes(model, &out, err)) {
        by_str_release(&out);
        return -1;
    }
    *bytes = out.text;
    *size = out.size;
    return 0;
}

void baryon_bytes_free(void *bytes)
{
    by_free(bytes);
}

/* --- what the model says --- */

int baryon_model_infer(struct baryon_model *model, struct baryon_error *err)
{
    if (BY_NEED(model, err))
        return -1;
    return by_model_infer(model, NULL, err);
}

static struct baryon_text text_of(struct by_span span)
{
    return (struct baryon_text){(const char *)span.data, span.size};
}

struct baryon_graph *baryon_model_graph(const struct baryon_model *model)
{
    return model ? model->graph : NULL;
}

int64_t baryon_model_ir_version(const struct baryon_model *model)
{
    return model ? model->ir_version : 0;
}

int64_t baryon_model_opset(const struct baryon_model *model, const char *domain)
{
    return model ? by_model_opset(model, domain) : 0;
}

size_t baryon_model_import_count(const struct baryon_model *model)
{
    return model ? model->opset_import.count : 0;
}

const char *baryon_model_import_domain(const struct baryon_model *model, size_t place)
{
    if (!model || place >= model->opset_import.count)
        return NULL;
    return by_domain(((const struct by_opset *)model->opset_import.at[place])->domain);
}

struct baryon_text baryon_model_producer(const struct baryon_model *model)
{
    return model ? text_of(model->producer_name) : (struct baryon_text){0};
}

struct baryon_text baryon_model_producer_version(const struct baryon_model *model)
{
    return model ? text_of(model->producer_version) : (struct baryon_text){0};
}

size_t baryon_model_metadata_count(const struct baryon_model *model)
{
    return model ? model->metadata.count : 0;
}

const char *baryon_model_metadata_key(const struct baryon_model *model, size_t place)
{
    if (!model || place >= model->metadata.count)
        return NULL;
    const struct by_pair *pair = model->metadata.at[place];
    return pair->key ? pair->key : "";
}

struct baryon_text baryon_model_metadata_value(const struct baryon_model *model, size_t place)
{
    if (!model || place >= model->metadata.count)
        return (struct baryon_text){0};
    return text_of(((const struct by_pair *)model->metadata.at[place])->value);
}
