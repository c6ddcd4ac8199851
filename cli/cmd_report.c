/* baryon report: a report as a page. */
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/places.h"
#include "report/html/html.h"

#include <string.h>

struct settings {
    const char *out;
    bool force;
};

static int check_page_place(const struct settings *settings, const char *in,
                            struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!settings->out || !*settings->out)
        return by_fail(err, BARYON_ERR_USAGE, "--out FILE is required: the file for the page");
    if (!strcmp(settings->out, "-"))
        return 0;
    if (by_same_file(in, settings->out))
        return by_fail(err, BARYON_ERR_USAGE, "--out %s is the report itself",
                       by_quote(quoted, settings->out));
    return settings->force ? 0 : by_place_check_free("--out", settings->out, err);
}

static int make_page(const char *path, struct by_str *html, struct baryon_error *err)
{
    char *json;
    size_t size;
    if (by_read_file(path, BY_REPORT_BYTES_MAX, &json, &size, err))
        return -1;
    int status = by_report_html(json, size, html, err);
    by_free(json);
    return status ? by_err_file(err, path) : 0;
}

static void tell_page(struct by_cli *cli, const char *path, size_t bytes)
{
    char size[32];
    struct by_json json;
    if (cli->common.json) {
        by_json_init(&json, &cli->out.text, false);
        by_json_open(&json, NULL, '{');
        by_json_text(&json, "file", path);
        by_json_int(&json, "bytes", (int64_t)bytes);
        by_json_close(&json, '}');
        by_str_puts(&cli->out.text, "\n");
    } else if (!cli->common.quiet) {
        by_clean(&cli->out.text, path);
        by_str_printf(&cli->out.text, ": %s\n", by_bytes_text(bytes, size, sizeof size));
    }
}

static int put_page(struct by_cli *cli, const struct settings *settings, const struct by_str *html,
                    struct baryon_error *err)
{
    if (!strcmp(settings->out, "-")) {
        by_str_add(&cli->out.text, html->text, html->size);
        return 0;
    }
    unsigned flags = settings->force ? 0 : BY_WRITER_EXCLUSIVE;
    if (by_write_file(settings->out, html->text, html->size, flags, err))
        return -1;
    tell_page(cli, settings->out, html->size);
    return 0;
}

static int run_report(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    struct by_str html;
    if (check_page_place(settings, cli->operands[0], err))
        return -1;
    by_str_init(&html);
    int status = make_page(cli->operands[0], &html, err);
    if (!status)
        status = put_page(cli, settings, &html, err);
    by_str_release(&html);
    return status;
}

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = offsetof(struct settings, out),
     .help = "Write the page to FILE, usually NAME.html; '-' is standard output (required)"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = offsetof(struct settings, force),
     .help = "Replace FILE if it exists"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Output", rows);

static const struct by_example examples[] = {
    {"baryon report report.json -o report.html", "Write the page of a report"},
    {"jq 'del(.examples)' a.json >b.json && baryon report b.json -o b.html",
     "Leave the pictures out of a page that others see"},
    {0},
};

const struct by_command by_cmd_report = {
    .name = "report",
    .operands = "REPORT",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Write a report as one HTML page",
    .text = "Read the JSON that --report FILE.json writes and write the page that --report "
            "FILE.html writes: one file that needs no network and no other file. It has a section "
            "for each part of the report: the outcome, goals, steps of a search, quality, layers "
            "along the graph, a table of tensors with their histograms, samples, time and memory, "
            "the command that repeats the run.\n\n"
            "The page has all of the report in itself, also pictures of samples and names of "
            "files.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}},
    .run = run_report,
};
