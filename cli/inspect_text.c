/* Prints the summary of a model as tables for `baryon inspect`. */
#include "cli/inspect.h"
#include "onnx/external.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL_WIDTH 12
#define NAME_LEAST  26

static void label(struct by_out *out, const char *name)
{
    by_str_puts(&out->text, "  ");
    by_out_printf(out, BY_DIM, "%-*s", LABEL_WIDTH, name);
}

static void add_span(struct by_str *str, struct by_span span)
{
    if (span.size)
        by_clean_bytes(str, span.data, span.size);
}

/* The type that most bytes have, as the model's own. */
static const char *main_type(const struct by_summary *summary)
{
    int64_t best = 0;
    for (int64_t elem = 1; elem < BY_ELEM_COUNT; elem++)
        if (summary->types[elem].bytes > summary->types[best].bytes)
            best = elem;
    return best ? by_elem_name(best) : "no weights";
}

static void show_forms(struct by_out *out, const struct by_quant *quant)
{
    bool first = true;
    for (int form = 0; form < BY_QUANT_FORMS; form++)
        if (quant->forms[form]) {
            by_str_printf(&out->text, "%s%s", first ? "" : ", ",
                          by_quant_form_name((enum by_quant_form)form));
            first = false;
        }
}

static bool is_quantized(const struct by_quant *quant)
{
    uint64_t nodes = 0;
    for (int form = 0; form < BY_QUANT_FORMS; form++)
        nodes += quant->forms[form];
    return nodes > 0;
}

static void show_title(struct by_out *out, const struct by_loaded *loaded,
                       const struct by_summary *summary)
{
    char size[32], count[32];
    const char *name = by_basename(loaded->name);
    if (out->color)
        by_str_puts(&out->text, "\033[1m");
    by_clean(&out->text, name);
    if (out->color)
        by_str_puts(&out->text, "\033[0m");
    by_str_printf(&out->text, "  %s, %s parameters, %s, ",
                  by_bytes_text(by_loaded_size(loaded), size, sizeof size),
                  by_count_text(summary->total.parameters, count, sizeof count),
                  main_type(summary));
    if (is_quantized(&summary->quant)) {
        by_out_printf(out, BY_YELLOW, "quantized");
        by_str_puts(&out->text, " (");
        show_forms(out, &summary->quant);
        by_str_puts(&out->text, ")");
    } else
        by_out_printf(out, BY_GREEN, "not quantized");
    by_str_puts(&out->text, "\n\n");
}

static void show_origin(struct by_out *out, const struct baryon_model *model)
{
    struct by_str *text = &out->text;
    label(out, "made by");
    add_span(text, model->producer_name);
    if (model->producer_version.size)
        by_str_puts(text, " ");
    add_span(text, model->producer_version);
    if (!model->producer_name.size && !model->producer_version.size)
        by_str_puts(text, "unknown");
    if (model->domain && *model->domain) {
        by_str_puts(text, ", ");
        by_clean(text, model->domain);
    }
    if (model->model_version)
        by_str_printf(text, ", version %" PRId64, model->model_version);
    by_str_puts(text, "\n");
    label(out, "format");
    by_str_printf(text, "IR version %" PRId64, model->ir_version);
    for (size_t i = 0; i < model->opset_import.count; i++) {
        const struct by_opset *opset = model->opset_import.at[i];
        by_str_puts(text, i ? ", " : ", opset ");
        by_clean(text, *by_domain(opset->domain) ? opset->domain : "ai.onnx");
        by_str_printf(text, " %" PRId64, opset->version);
    }
    by_str_puts(text, "\n");
}

static void show_graph(struct by_out *out, const struct by_summary *summary)
{
    const struct baryon_model *model = summary->model;
    struct by_str *text = &out->text;
    label(out, "graph");
    if (model->graph->name && *model->graph->name) {
        by_clean(text, model->graph->name);
        by_str_puts(text, ": ");
    }
    by_plural(text, summary->nodes, "node");
    by_str_puts(text, ", ");
    by_plural(text, summary->total.tensors, "constant");
    if (summary->graphs > 1) {
        by_str_puts(text, ", ");
        by_plural(text, summary->graphs - 1, "nested graph");
    }
    if (model->functions.count) {
        by_str_puts(text, ", ");
        by_plural(text, model->functions.count, "function");
    }
    if (model->training_info.count)
        by_str_puts(text, ", training information");
    by_str_puts(text, "\n");
}

static void show_external(struct by_out *out, const struct baryon_model *model)
{
    char size[32];
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        label(out, i ? "" : "data files");
        by_clean(&out->text, file->location);
        by_str_printf(&out->text, "  %s\n", by_bytes_text(file->mapped.size, size, sizeof size));
    }
}

#define METADATA_SHOWN 40

/* Bytes of a value that are shown: whole characters only. */
static size_t shown_bytes(struct by_span value)
{
    size_t size = value.size;
    if (size <= METADATA_SHOWN)
        return size;
    for (size = METADATA_SHOWN; size && (value.data[size] & 0xc0) == 0x80;)
        size--;
    return size;
}

static void show_metadata(struct by_out *out, const struct baryon_model *model)
{
    for (size_t i = 0; i < model->metadata.count; i++) {
        const struct by_pair *pair = model->metadata.at[i];
        size_t shown = shown_bytes(pair->value);
        label(out, i ? "" : "metadata");
        by_clean(&out->text, pair->key ? pair->key : "");
        by_str_puts(&out->text, " = ");
        by_clean_bytes(&out->text, pair->value.data, shown);
        if (shown < pair->value.size)
            by_str_printf(&out->text, "... (%zu bytes)", pair->value.size);
        by_str_puts(&out->text, "\n");
    }
}

static void show_kinds(struct by_out *out, const struct by_quant *quant)
{
    for (size_t i = 0; i < quant->kind_count; i++) {
        const struct by_quant_kind *kind = &quant->kinds[i];
        label(out, i ? "" : "quantized");
        by_plural(&out->text, kind->count, kind->role == BY_PART_WEIGHT ? "weight" : "activation");
        by_str_printf(&out->text, " %s, %s\n", by_elem_name(kind->elem),
                      by_quant_grain_name(kind->grain));
    }
}

static int show_ports(struct by_out *out, const struct baryon_model *model, const char *heading,
                      const struct by_ptrs *ports, struct baryon_error *err)
{
    struct by_table table;
    char type[256], dims[1024];
    by_str_puts(&out->text, "\n");
    by_table_init(&table, out);
    by_table_column(&table, heading, BY_LEFT, BY_CYAN);
    by_table_least(&table, NAME_LEAST);
    by_table_flexible(&table);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_least(&table, 8);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < ports->count; i++) {
        const struct by_value_info *info = ports->at[i];
        if (!by_is_port(model, info))
            continue;
        by_table_cell(&table, "%s", info->name ? info->name : "");
        by_table_cell(&table, "%s", by_type_text(info->type, type, sizeof type));
        by_table_cell(&table, "%s", by_dims_text(info->type, dims, sizeof dims));
    }
    return by_table_print(&table, 2, err);
}

static void share_cell(struct by_table *table, uint64_t part, uint64_t whole)
{
    double percent = whole ? 100.0 * (double)part / (double)whole : 0;
    if (part && percent < 0.05)
        by_table_cell(table, "< 0.1 %%");
    else
        by_table_cell(table, "%.1f %%", percent);
}

static void tally_columns(struct by_table *table, struct by_out *out, const char *heading,
                          const char *counted)
{
    by_table_init(table, out);
    by_table_column(table, heading, BY_LEFT, BY_CYAN);
    by_table_least(table, NAME_LEAST);
    by_table_flexible(table);
    by_table_column(table, counted, BY_RIGHT, BY_PLAIN);
    by_table_least(table, 7);
    by_table_column(table, "parameters", BY_RIGHT, BY_PLAIN);
    by_table_least(table, 13);
    by_table_column(table, "bytes", BY_RIGHT, BY_PLAIN);
    by_table_least(table, 10);
    by_table_column(table, "share", BY_RIGHT, BY_DIM);
    by_table_least(table, 7);
}

static int show_operators(struct by_out *out, const struct by_summary *summary,
                          struct baryon_error *err)
{
    struct by_table table;
    by_str_puts(&out->text, "\n");
    tally_columns(&table, out, "Operators", "nodes");
    for (size_t i = 0; i < summary->ops.count; i++) {
        const struct by_op_tally *op = &summary->ops.at[i];
        by_table_cell(&table, "%s%s%s", op->domain, *op->domain ? "." : "", op->op_type);
        if (op->tally.nodes)
            by_table_count(&table, op->tally.nodes);
        else
            by_table_cell(&table, "%s", "");
        if (op->tally.tensors) {
            by_table_count(&table, op->tally.parameters);
            by_table_bytes(&table, op->tally.bytes);
            share_cell(&table, op->tally.bytes, summary->total.bytes);
        } else
            for (int empty = 0; empty < 3; empty++)
                by_table_cell(&table, "%s", "");
    }
    return by_table_print(&table, 2, err);
}

static int show_types(struct by_out *out, const struct by_summary *summary,
                      struct baryon_error *err)
{
    struct by_table table;
    by_str_puts(&out->text, "\n");
    tally_columns(&table, out, "Types", "tensors");
    for (int64_t elem = 1; elem < BY_ELEM_COUNT; elem++) {
        const struct by_tally *tally = &summary->types[elem];
        if (!tally->tensors)
            continue;
        by_table_cell(&table, "%s", by_elem_name(elem));
        by_table_count(&table, tally->tensors);
        by_table_count(&table, tally->parameters);
        by_table_bytes(&table, tally->bytes);
        share_cell(&table, tally->bytes, summary->total.bytes);
    }
    return by_table_print(&table, 2, err);
}

static int show_functions(struct by_out *out, const struct baryon_model *model,
                          struct baryon_error *err)
{
    struct by_table table;
    if (!model->functions.count)
        return 0;
    by_str_puts(&out->text, "\n");
    by_table_init(&table, out);
    by_table_column(&table, "Functions", BY_LEFT, BY_CYAN);
    by_table_least(&table, NAME_LEAST);
    by_table_flexible(&table);
    by_table_column(&table, "nodes", BY_RIGHT, BY_PLAIN);
    by_table_least(&table, 7);
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        const char *domain = by_domain(function->domain);
        by_table_cell(&table, "%s%s%s", domain, *domain ? "." : "",
                      function->name ? function->name : "");
        by_table_count(&table, function->node.count);
    }
    return by_table_print(&table, 2, err);
}

int by_inspect_text(struct by_out *out, const struct by_loaded *loaded,
                    const struct by_summary *summary, struct baryon_error *err)
{
    const struct baryon_model *model = summary->model;
    show_title(out, loaded, summary);
    show_origin(out, model);
    show_graph(out, summary);
    show_external(out, model);
    show_metadata(out, model);
    show_kinds(out, &summary->quant);
    if (show_ports(out, model, "Inputs", &model->graph->input, err) < 0 ||
        show_ports(out, model, "Outputs", &model->graph->output, err) < 0)
        return -1;
    if (summary->ops.count && show_operators(out, summary, err) < 0)
        return -1;
    if (summary->total.tensors && show_types(out, summary, err) < 0)
        return -1;
    return show_functions(out, model, err);
}
