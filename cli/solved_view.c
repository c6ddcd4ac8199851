/* Prints what rounding reconstruction changed in each layer, as text or JSON. */
#include "cli/solved_view.h"

int by_solved_text(const struct by_solved *solved, struct by_out *out, struct baryon_error *err)
{
    struct by_table table;
    if (!solved->count)
        return 0;
    by_table_init(&table, out);
    by_table_column(&table, "layer", BY_LEFT, BY_CYAN);
    by_table_column(&table, "nearest dB", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "reconstructed dB", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < solved->count; i++) {
        const struct by_solved_layer *layer = &solved->layers[i];
        by_table_cell(&table, "%s", layer->name);
        by_table_cell(&table, "%.1f", layer->nearest);
        by_table_cell(&table, "%.1f", layer->solved);
        by_table_cell(&table, "%s", layer->kept && solved->kept ? "kept" : "nearest");
    }
    if (by_table_print(&table, 2, err) < 0)
        return -1;
    by_str_puts(&out->text, "\n  ");
    by_solved_say(solved, &out->text);
    by_str_puts(&out->text, "\n");
    return 0;
}

void by_solved_json(const struct by_solved *solved, struct by_json *json)
{
    if (!solved->count)
        return;
    by_json_open(json, "rounding", '{');
    by_json_text(json, "source", solved->from_statistics ? "statistics" : "samples");
    by_json_text(json, "inputs", solved->on_float ? "float" : "quantized");
    by_json_int(json, "samples", (int64_t)solved->train);
    by_json_int(json, "samples_aside", solved->aside ? (int64_t)solved->judging : 0);
    by_json_double(json, "nearest_db", solved->before);
    by_json_double(json, "solved_db", solved->after);
    by_json_bool(json, "kept", solved->kept);
    by_json_open(json, "layers", '[');
    for (size_t i = 0; i < solved->count; i++) {
        const struct by_solved_layer *layer = &solved->layers[i];
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", layer->name);
        by_json_int(json, "rows", (int64_t)layer->rows);
        by_json_int(json, "columns", (int64_t)layer->columns);
        by_json_double(json, "nearest_db", layer->nearest);
        by_json_double(json, "solved_db", layer->solved);
        by_json_bool(json, "kept", layer->kept && solved->kept);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}
