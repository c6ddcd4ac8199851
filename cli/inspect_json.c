/* Writes the summary of a model as JSON for `baryon inspect --json`. */
#include "cli/inspect.h"
#include "onnx/external.h"

static void opsets(struct by_json *json, const struct by_ptrs *list)
{
    by_json_open(json, "opsets", '{');
    for (size_t i = 0; i < list->count; i++) {
        const struct by_opset *opset = list->at[i];
        by_json_int(json, *by_domain(opset->domain) ? opset->domain : "ai.onnx", opset->version);
    }
    by_json_close(json, '}');
}

/* Keys may repeat in a model, so that it is a list. */
static void metadata(struct by_json *json, const struct by_ptrs *list)
{
    by_json_open(json, "metadata", '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct by_pair *pair = list->at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "key", pair->key ? pair->key : "");
        by_json_bytes(json, "value", pair->value.data, pair->value.size);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

/* Numbers, symbols, null for what is unknown. */
static void shape(struct by_json *json, const struct by_shape_msg *msg)
{
    if (!msg) {
        by_json_null(json, "shape");
        return;
    }
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < msg->dims.count; i++) {
        const struct by_dim *dim = msg->dims.at[i];
        if (by_dim_is_number(dim) && dim->value >= 0)
            by_json_int(json, NULL, dim->value);
        else if (dim->param && *dim->param)
            by_json_text(json, NULL, dim->param);
        else
            by_json_null(json, NULL);
    }
    by_json_close(json, ']');
}

static void ports(struct by_json *json, const struct baryon_model *model, const char *key,
                  const struct by_ptrs *list)
{
    char type[256];
    by_json_open(json, key, '[');
    for (size_t i = 0; i < list->count; i++) {
        const struct by_value_info *info = list->at[i];
        if (!by_is_port(model, info))
            continue;
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", info->name ? info->name : "");
        by_json_text(json, "type", by_type_text(info->type, type, sizeof type));
        shape(json, by_type_shape(info->type));
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void tally_members(struct by_json *json, const struct by_tally *tally)
{
    by_json_int(json, "tensors", (int64_t)tally->tensors);
    by_json_int(json, "parameters", (int64_t)tally->parameters);
    by_json_int(json, "bytes", (int64_t)tally->bytes);
}

static void operators(struct by_json *json, const struct by_summary *summary)
{
    by_json_open(json, "operators", '[');
    for (size_t i = 0; i < summary->ops.count; i++) {
        const struct by_op_tally *op = &summary->ops.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "domain", op->domain);
        by_json_text(json, "operator", op->op_type);
        by_json_int(json, "nodes", (int64_t)op->tally.nodes);
        tally_members(json, &op->tally);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void types(struct by_json *json, const struct by_summary *summary)
{
    by_json_open(json, "types", '[');
    for (int64_t elem = 1; elem < BY_ELEM_COUNT; elem++) {
        if (!summary->types[elem].tensors)
            continue;
        by_json_open(json, NULL, '{');
        by_json_text(json, "type", by_elem_name(elem));
        tally_members(json, &summary->types[elem]);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void quantization(struct by_json *json, const struct by_quant *quant)
{
    by_json_open(json, "quantization", '{');
    by_json_open(json, "forms", '{');
    for (int form = 0; form < BY_QUANT_FORMS; form++)
        if (quant->forms[form])
            by_json_int(json, by_quant_form_name((enum by_quant_form)form),
                        (int64_t)quant->forms[form]);
    by_json_close(json, '}');
    by_json_open(json, "tensors", '[');
    for (size_t i = 0; i < quant->kind_count; i++) {
        const struct by_quant_kind *kind = &quant->kinds[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "role", kind->role == BY_PART_WEIGHT ? "weight" : "activation");
        by_json_text(json, "type", by_elem_name(kind->elem));
        by_json_text(json, "grain", by_quant_grain_name(kind->grain));
        by_json_int(json, "count", (int64_t)kind->count);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

static void data_files(struct by_json *json, const struct baryon_model *model)
{
    by_json_open(json, "data_files", '[');
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "location", file->location);
        by_json_int(json, "bytes", (int64_t)file->mapped.size);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static void functions(struct by_json *json, const struct baryon_model *model)
{
    by_json_open(json, "functions", '[');
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "domain", by_domain(function->domain));
        by_json_text(json, "name", function->name ? function->name : "");
        by_json_int(json, "nodes", (int64_t)function->node.count);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_inspect_json(struct by_json *json, const struct by_loaded *loaded,
                     const struct by_summary *summary)
{
    const struct baryon_model *model = summary->model;
    by_json_text(json, "file", loaded->name);
    by_json_int(json, "file_bytes", (int64_t)by_loaded_size(loaded));
    by_json_int(json, "ir_version", model->ir_version);
    opsets(json, &model->opset_import);
    by_json_bytes(json, "producer", model->producer_name.data, model->producer_name.size);
    by_json_bytes(json, "producer_version", model->producer_version.data,
                  model->producer_version.size);
    by_json_text(json, "domain", model->domain ? model->domain : "");
    by_json_int(json, "model_version", model->model_version);
    metadata(json, &model->metadata);
    by_json_text(json, "graph", model->graph->name ? model->graph->name : "");
    by_json_int(json, "graphs", (int64_t)summary->graphs);
    by_json_int(json, "nodes", (int64_t)summary->nodes);
    by_json_bool(json, "training_info", model->training_info.count > 0);
    tally_members(json, &summary->total);
    ports(json, model, "inputs", &model->graph->input);
    ports(json, model, "outputs", &model->graph->output);
    operators(json, summary);
    types(json, summary);
    quantization(json, &summary->quant);
    data_files(json, model);
    functions(json, model);
}
