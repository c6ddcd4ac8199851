/* baryon presets: the named configurations. */
#include "base/json.h"
#include "cli/cmd.h"
#include "preset/preset.h"
#include "settings/recipe/preset.h"

static void list_json(struct by_out *out)
{
    size_t count;
    const struct by_preset *const *presets = by_presets(&count);
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "presets", '[');
    for (size_t i = 0; i < count; i++) {
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "name", presets[i]->name);
        by_json_text(&json, "help", presets[i]->help);
        by_json_close(&json, '}');
    }
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static int list_text(struct by_out *out, struct baryon_error *err)
{
    size_t count;
    const struct by_preset *const *presets = by_presets(&count);
    struct by_table table;
    by_table_init(&table, out);
    by_table_column(&table, "preset", BY_LEFT, BY_CYAN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < count; i++) {
        by_table_cell(&table, "%s", presets[i]->name);
        by_table_cell(&table, "%s", presets[i]->help);
    }
    return by_table_print(&table, 0, err);
}

static void write_preset_json(struct by_out *out, const struct by_preset *preset,
                              const struct by_config *config)
{
    struct by_json json;
    by_json_init(&json, &out->text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "preset", preset->name);
    by_json_text(&json, "help", preset->help);
    by_json_open(&json, "options", '{');
    by_recipe_json(config, &json);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(&out->text, "\n");
}

static void print_preset_text(struct by_out *out, const struct by_preset *preset,
                              const struct by_config *config)
{
    struct by_str text;
    by_str_init(&text);
    by_recipe_write(config, &text);
    by_str_printf(&out->text, "# Preset %s: %s.\n\n%s", preset->name, preset->help,
                  by_str_text(&text));
    out->text.failed |= text.failed;
    by_str_release(&text);
}

static int print_preset(struct by_cli *cli, const char *name, struct baryon_error *err)
{
    struct by_preset_view view;
    const struct by_preset *preset = by_preset_find(name, err);
    if (!preset || by_preset_view_open(&view, preset->name, err) < 0)
        return -1;
    (cli->common.json ? write_preset_json : print_preset_text)(&cli->out, preset, &view.config);
    by_preset_view_close(&view);
    return 0;
}

static int run_presets(struct by_cli *cli, const void *settings, struct baryon_error *err)
{
    (void)settings;
    if (cli->operand_count)
        return print_preset(cli, cli->operands[0], err);
    if (!cli->common.json)
        return list_text(&cli->out, err);
    list_json(&cli->out);
    return 0;
}

static const struct by_example examples[] = {
    {"baryon presets", "List the presets"},
    {"baryon presets XINT8 >xint8.yaml", "Write a config to edit and to pass to --config"},
    {0},
};

const struct by_command by_cmd_presets = {
    .name = "presets",
    .operands = "[PRESET]",
    .max_operands = 1,
    .summary = "List the presets, or print the config of one",
    .text = "Without PRESET, list the presets. With PRESET, print its whole config as a file for "
            "'baryon quantize --config', with every option that applies to it. Names are "
            "case-insensitive, and _CONFIG at the end is optional.",
    .examples = examples,
    .run = run_presets,
};
