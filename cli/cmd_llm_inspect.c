/* baryon llm inspect: what is in a checkpoint of a language model. */
#include "base/json.h"
#include "cli/cmd.h"
#include "llm/inspect.h"

struct settings {
    bool tensors;
};

static void print_fact(struct by_out *out, const char *name, const char *text)
{
    by_str_puts(&out->text, "  ");
    by_out_printf(out, BY_DIM, "%-14s", name);
    by_clean(&out->text, text);
    by_str_puts(&out->text, "\n");
}

static bool has_embedding(const struct by_family *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (family->roles[i].role == BY_LLM_EMBEDDING)
            return true;
    return false;
}

static void print_facts(struct by_out *out, const struct by_checkpoint *checkpoint,
                        const struct by_llm_summary *summary)
{
    struct by_str text;
    char buf[64];
    by_str_init(&text);
    by_str_printf(&text, "%s, ", checkpoint->container == BY_GGUF ? "GGUF" : "safetensors");
    by_plural(&text, checkpoint->file_count, "file");
    by_str_puts(&text, ", ");
    by_plural(&text, checkpoint->tensor_count, "tensor");
    by_str_printf(&text, ", %s", by_bytes_text(summary->all.bytes, buf, sizeof buf));
    print_fact(out, "container", by_str_text(&text));
    print_fact(out, "architecture", *summary->architecture ? summary->architecture : "not known");
    by_str_clear(&text);
    by_str_puts(&text, by_count_text(summary->all.parameters, buf, sizeof buf));
    if (summary->family.layers) {
        by_str_puts(&text, " in ");
        by_plural(&text, summary->family.layers, "layer");
    }
    if (summary->family.experts)
        by_str_printf(&text, ", %s experts",
                      by_count_text(summary->family.experts, buf, sizeof buf));
    if (summary->family.tied && has_embedding(&summary->family))
        by_str_puts(&text, ", the embedding is the head too");
    print_fact(out, "parameters", by_str_text(&text));
    by_str_clear(&text);
    by_str_printf(&text, "%s%s%s", summary->method ? summary->method : "no",
                  *summary->scheme ? ": " : "", summary->scheme);
    print_fact(out, "quantized", by_str_text(&text));
    by_str_release(&text);
}

static int print_sums(struct by_out *out, const char *heading, const struct by_llm_totals *sums,
                      struct baryon_error *err)
{
    struct by_table table;
    if (!sums->count)
        return 0;
    by_str_puts(&out->text, "\n");
    by_table_init(&table, out);
    by_table_column(&table, heading, BY_LEFT, BY_CYAN);
    by_table_column(&table, "tensors", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "values", BY_RIGHT, BY_PLAIN);
    by_table_column(&table, "bytes", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < sums->count; i++) {
        by_table_cell(&table, "%s", sums->at[i].name);
        by_table_count(&table, sums->at[i].tensors);
        by_table_count(&table, sums->at[i].parameters);
        by_table_bytes(&table, sums->at[i].bytes);
    }
    return by_table_print(&table, 2, err);
}

static int print_tensors(struct by_out *out, const struct by_checkpoint *checkpoint,
                         const struct by_llm_summary *summary, struct baryon_error *err)
{
    struct by_table table;
    char shape[256];
    by_table_init(&table, out);
    by_table_column(&table, "tensor", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "kind", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "type", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "shape", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "bytes", BY_RIGHT, BY_PLAIN);
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const struct by_stored_tensor *tensor = &checkpoint->tensors[i];
        by_table_cell(&table, "%s", tensor->name);
        by_table_cell(&table, "%s", by_llm_kind(&summary->family.roles[i]));
        by_table_cell(&table, "%s", tensor->type->name);
        by_table_cell(&table, "%s", by_stored_shape(tensor, shape, sizeof shape));
        by_table_bytes(&table, tensor->bytes);
    }
    return by_table_print(&table, 0, err);
}

static int print_summary(struct by_cli *cli, const struct by_checkpoint *checkpoint,
                         const struct by_llm_summary *summary, struct baryon_error *err)
{
    struct by_out *out = &cli->out;
    char buf[64];
    by_out_printf(out, BY_BOLD, "%s", by_basename(checkpoint->path));
    by_str_puts(&out->text, "\n");
    print_facts(out, checkpoint, summary);
    if (print_sums(out, "kind", &summary->kinds, err) ||
        print_sums(out, "type", &summary->types, err))
        return -1;
    by_str_puts(&out->text, "\n  A quantizer takes ");
    by_plural(&out->text, summary->linear.tensors, "weight");
    by_str_printf(&out->text, " of linear layers, %s values%s\n",
                  by_count_text(summary->linear.parameters, buf, sizeof buf),
                  summary->left.count ? ", and leaves these:" : ".");
    return print_sums(out, "left", &summary->left, err);
}

static void write_summary(struct by_str *out, const struct by_checkpoint *checkpoint,
                          const struct by_llm_summary *summary, bool tensors)
{
    struct by_json json;
    by_json_init(&json, out, false);
    by_llm_summary_json(summary, checkpoint, tensors, &json);
    by_str_puts(out, "\n");
}

static int show_checkpoint(struct by_cli *cli, struct by_checkpoint *checkpoint, bool tensors,
                           struct baryon_error *err)
{
    struct by_llm_summary summary;
    if (by_llm_inspect(&summary, checkpoint, err))
        return -1;
    if (cli->common.json)
        write_summary(&cli->out.text, checkpoint, &summary, tensors);
    else if (tensors ? print_tensors(&cli->out, checkpoint, &summary, err)
                     : print_summary(cli, checkpoint, &summary, err))
        return -1;
    return by_checkpoint_check(checkpoint, err);
}

static int run_llm_inspect(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_checkpoint *checkpoint;
    if (by_checkpoint_open(&checkpoint, cli->operands[0], err))
        return -1;
    int status = show_checkpoint(cli, checkpoint, settings->tensors, err);
    by_checkpoint_close(checkpoint);
    return status ? by_err_file(err, cli->operands[0]) : 0;
}

static const struct by_option rows[] = {
    {.name = "tensors",
     .type = BY_OPT_FLAG,
     .offset = offsetof(struct settings, tensors),
     .help = "List all tensors with kind, type, shape and bytes"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Contents", rows);

static const struct by_example examples[] = {
    {"baryon llm inspect Qwen3-0.6B", "Show a summary of a folder"},
    {"baryon llm inspect model.gguf --tensors | grep attn_q", "List tensors of a GGUF file"},
    {0},
};

const struct by_command by_cmd_llm_inspect = {
    .name = "llm inspect",
    .operands = "PATH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Show the contents of a language model's checkpoint",
    .text = "Show container, architecture, parameters, tensors and bytes by kind and by type, how "
            "the checkpoint is quantized, and which matrices 'baryon llm quantize' would take. "
            "PATH is a folder with config.json and *.safetensors, a .safetensors file or a .gguf "
            "file. Only headers are read.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}},
    .run = run_llm_inspect,
};
