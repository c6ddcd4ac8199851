/* baryon list: the lists that Baryon is made of. */
#include "base/json.h"
#include "cli/lists.h"

static void lists_json(struct by_out *out)
{
    size_t count;
    const struct by_registry *registries = by_registries(&count);
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "lists", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "name", registries[i].name);
        by_json_int(&json, "rows", (int64_t)registries[i].count());
        by_json_text(&json, "help", registries[i].help);
        by_json_close(&json, '}');
    }
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int lists_table(struct by_out *out, struct baryon_error *err)
{
    size_t count;
    const struct by_registry *registries = by_registries(&count);
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "list", BY_LEFT, BY_CYAN);
    by_table_column(&table, "rows", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < count; i++) {
        by_table_cell(&table, "%s", registries[i].name);
        by_table_count(&table, registries[i].count());
        by_table_cell(&table, "%s", registries[i].help);
    }
    return by_table_print(&table, 0, err);
}

static int unknown_list(const char *name, struct baryon_error *err)
{
    size_t count;
    const struct by_registry *registries = by_registries(&count);
    const char *names[64] = {0};
    char quoted[BY_QUOTE_MAX];
    if (count > sizeof names / sizeof *names)
        count = sizeof names / sizeof *names;
    for (size_t i = 0; i < count; i++)
        names[i] = registries[i].name;
    by_fail(err, BARYON_ERR_USAGE, "unknown list %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near)
                : by_err_hint(err, "'baryon list' shows the lists");
}

static int run_list(struct by_cli *cli, const void *settings, struct baryon_error *err)
{
    (void)settings;
    if (cli->operand_count) {
        const struct by_registry *registry = by_registry_find(cli->operands[0]);
        return registry ? by_list_show(cli, registry, err) : unknown_list(cli->operands[0], err);
    }
    if (!cli->common.json)
        return lists_table(&cli->out, err);
    lists_json(&cli->out);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon list readers", "List the formats of sample files"},
    {"baryon list operators --json", "Print all known operators as JSON"},
    {0},
};

const struct by_command by_cmd_list = {
    .name = "list",
    .operands = "[LIST]",
    .max_operands = 1,
    .summary = "List operators, types, sample readers, rules and more",
    .text = "Without LIST, print the names of the lists. With LIST, print its rows.",
    .examples = examples,
    .run = run_list,
};
