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
