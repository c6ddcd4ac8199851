/* Describes the inputs and outputs of a session. */
#include "engine/session_internal.h"

#include "base/text.h"

#include <string.h>

/* The three lists of a session, as calls of the API. */
struct port_calls {
    const struct by_ptrs *declared; /* by_value_info; starts like the session's list */
    OrtStatus *(*count)(const OrtSession *session, size_t *count);
    OrtStatus *(*name)(const OrtSession *session, size_t index, OrtAllocator *allocator,
                       char **name);
    OrtStatus *(*type)(const OrtSession *session, size_t index, OrtTypeInfo **type);
};

#define DOING "describe the model's inputs and outputs"

static const char *kind_name(enum ONNXType kind)
{
    static const struct kind_row {
        enum ONNXType kind;
        const char *name;
    } kinds[] = {
        {ONNX_TYPE_TENSOR, "tensor"},     {ONNX_TYPE_SEQUENCE, "sequence"},
        {ONNX_TYPE_MAP, "map"},           {ONNX_TYPE_OPAQUE, "opaque"},
        {ONNX_TYPE_OPTIONAL, "optional"}, {ONNX_TYPE_SPARSETENSOR, "sparse tensor"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return "unknown";
}

/* ONNX Runtime says 0 for the rank of a scalar and for one that it does not know. */
static bool is_declared_scalar(const struct port_calls *calls, size_t index, const char *name)
{
    const struct by_ptrs *list = calls->declared;
    for (size_t i = 0; i < list->count; i++) {
        const struct by_value_info *info = list->at[(index + i) % list->count];
        if (info && info->name && strcmp(info->name, name) == 0)
            return info->type && info->type->tensor && info->type->tensor->shape &&
                   info->type->tensor->shape->dims.count == 0;
    }
    return false;
}

static int copy_symbols(struct by_session *session, const char **symbols, size_t rank,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < rank; i++) {
        const char *symbol = symbols[i] ? symbols[i] : "";
        if (!(symbols[i] = by_arena_text(&session->arena, symbol, strlen(symbol), err)))
            return -1;
    }
    return 0;
}

static int read_dims(struct by_session *session, const OrtTensorTypeAndShapeInfo *info,
                     struct by_port *port, struct baryon_error *err)
{
    const OrtApi *api = session->ort->api;
    if (by_ort_status(session->ort, api->GetDimensionsCount(info, &port->rank), DOING, err))
        return -1;
    int64_t *dims = by_arena_alloc(&session->arena, port->rank, sizeof *dims, err);
    const char **symbols =
        dims ? by_arena_alloc(&session->arena, port->rank, sizeof *symbols, err) : NULL;
    port->dims = dims;
    port->symbols = symbols;
    if (!symbols)
        return -1;
    if (by_ort_status(session->ort, api->GetDimensions(info, dims, port->rank), DOING, err) ||
        by_ort_status(session->ort, api->GetSymbolicDimensions(info, symbols, port->rank), DOING,
                      err))
        return -1;
    return copy_symbols(session, symbols, port->rank, err);
}

static int read_tensor(struct by_session *session, const OrtTypeInfo *type, struct by_port *port,
                       struct baryon_error *err)
{
    const OrtApi *api = session->ort->api;
    const OrtTensorTypeAndShapeInfo *info = NULL;
    enum ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (by_ort_status(session->ort, api->CastTypeInfoToTensorInfo(type, &info), DOING, err) ||
        by_ort_status(session->ort, api->GetTensorElementType(info, &elem), DOING, err))
        return -1;
    port->elem = by_ort_elem_back(elem);
    return read_dims(session, info, port, err);
}

static int read_type(struct by_session *session, const struct port_calls *calls, size_t index,
                     struct by_port *port, struct baryon_error *err)
{
    const OrtApi *api = session->ort->api;
    OrtTypeInfo *type = NULL;
    enum ONNXType kind = ONNX_TYPE_UNKNOWN;
    if (by_ort_status(session->ort, calls->type(session->handle, index, &type), DOING, err))
        return -1;
    int result = by_ort_status(session->ort, api->GetOnnxTypeFromTypeInfo(type, &kind), DOING, err);
    port->kind = kind_name(kind);
    if (!result && kind == ONNX_TYPE_TENSOR)
        result = read_tensor(session, type, port, err);
    port->any_rank = !port->rank && !is_declared_scalar(calls, index, port->name);
    api->ReleaseTypeInfo(type);
    return result;
}

static int read_name(struct by_session *session, const struct port_calls *calls, size_t index,
                     OrtAllocator *allocator, struct by_port *port, struct baryon_error *err)
{
    char *name = NULL;
    if (by_ort_status(session->ort, calls->name(session->handle, index, allocator, &name), DOING,
                      err))
        return -1;
    port->name = by_arena_text(&session->arena, name, strlen(name), err);
    allocator->Free(allocator, name);
    return port->name ? 0 : -1;
}

static int read_list(struct by_session *session, const struct port_calls *calls,
                     struct by_ports *ports, struct baryon_error *err)
{
    OrtAllocator *allocator = NULL;
    size_t count = 0;
    if (by_ort_status(session->ort, session->ort->api->GetAllocatorWithDefaultOptions(&allocator),
                      DOING, err) ||
        by_ort_status(session->ort, calls->count(session->handle, &count), DOING, err))
        return -1;
    ports->at = by_arena_alloc(&session->arena, count, sizeof *ports->at, err);
    if (!ports->at)
        return -1;
    for (ports->count = 0; ports->count < count; ports->count++) {
        struct by_port *port = &ports->at[ports->count];
        if (read_name(session, calls, ports->count, allocator, port, err) ||
            read_type(session, calls, ports->count, port, err) ||
            by_map_put(&ports->by_name, port->name, port, err))
            return -1;
    }
    return 0;
}

int by_ports_read(struct by_session *session, const struct baryon_model *model,
                  struct baryon_error *err)
{
    const OrtApi *api = session->ort->api;
    const struct by_ptrs *declared = &model->graph->input;
    const struct port_calls inputs = {declared, api->SessionGetInputCount, api->SessionGetInputName,
                                      api->SessionGetInputTypeInfo};
    const struct port_calls optional = {declared, api->SessionGetOverridableInitializerCount,
                                        api->SessionGetOverridableInitializerName,
                                        api->SessionGetOverridableInitializerTypeInfo};
    const struct port_calls outputs = {&model->graph->output, api->SessionGetOutputCount,
                                       api->SessionGetOutputName, api->SessionGetOutputTypeInfo};
    if (read_list(session, &inputs, &session->inputs, err) ||
        read_list(session, &optional, &session->optional_inputs, err) ||
        read_list(session, &outputs, &session->outputs, err))
        return -1;
    return 0;
}

static int unknown_output(const struct by_ports *outputs, const char *name,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "the model has no output %s", by_quote(quoted, name));
    struct by_text hint;
    if (!err)
        return -1;
    by_text_init(&hint, err->hint, sizeof err->hint);
    for (size_t i = 0; i < outputs->count; i++)
        by_text_add(&hint, "%s%s", i ? ", " : "its outputs are ",
                    by_quote(quoted, outputs->at[i].name));
    return -1;
}

int by_session_choose_outputs(const struct by_session *session, const char *const *wanted,
                              size_t wanted_count, struct by_arena *arena, const char ***names,
                              size_t *count, struct baryon_error *err)
{
    const struct by_ports *outputs = &session->outputs;
    *count = wanted_count ? wanted_count : outputs->count;
    *names = by_arena_alloc(arena, *count, sizeof **names, err);
    if (!*names)
        return -1;
    for (size_t i = 0; i < *count; i++) {
        const struct by_port *port =
            wanted_count ? by_map_get(&outputs->by_name, wanted[i]) : &outputs->at[i];
        if (!port)
            return unknown_output(outputs, wanted[i], err);
        (*names)[i] = port->name;
    }
    return 0;
}

void by_ports_release(struct by_session *session)
{
    by_map_release(&session->inputs.by_name);
    by_map_release(&session->optional_inputs.by_name);
    by_map_release(&session->outputs.by_name);
}
