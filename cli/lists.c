/* Prints one list of the registry as a table or JSON. */
#include "cli/lists.h"

#include "base/json.h"

static void write_registry_json(struct by_out *out, const struct by_registry *registry)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, registry->name, '[');
    for (size_t i = 0; i < registry->count(); i++) {
        struct by_registry_row row = {.name = NULL};
        registry->row(i, &row);
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "name", row.name);
        if (row.detail[0])
            by_json_text(&json, registry->detail, row.detail);
        by_json_text(&json, "help", row.help);
        by_json_close(&json, '}');
    }
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

int by_list_show(struct by_cli *cli, const struct by_registry *registry, struct baryon_error *err)
{
    struct by_table table;
    if (cli->common.json) {
        write_registry_json(&cli->out, registry);
        return 0;
    }
    by_table_init(&table, &cli->out);
    by_table_column(&table, registry->name, BY_LEFT, BY_CYAN);
    if (*registry->detail)
        by_table_column(&table, registry->detail, BY_LEFT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < registry->count(); i++) {
        struct by_registry_row row = {.name = NULL};
        registry->row(i, &row);
        by_table_cell(&table, "%s", row.name);
        if (*registry->detail)
            by_table_cell(&table, "%s", row.detail);
        by_table_cell(&table, "%s", row.help);
    }
    return by_table_print(&table, 0, err);
}
