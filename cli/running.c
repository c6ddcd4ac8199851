/* Turns the options of commands that run a model into an input and a session. */
#include "cli/running.h"

#include "base/text.h"
#include "cli/help.h"
#include "engine/ort.h"
#include "onnx/check.h"

int by_running_input(struct by_cli *cli, const struct by_running_settings *settings,
                     struct by_input_options *options, struct baryon_error *err)
{
    options->log = &cli->log;
    by_prep_options(&cli->config, &settings->prep, &options->prep);
    return by_data_options(&cli->config, &settings->data, options, err);
}

void by_running_session(const struct by_cli *cli, const struct by_running_settings *settings,
                        struct by_session_options *options)
{
    by_engine_options(&settings->engine, &settings->runtime, options);
    options->log = &cli->log;
}

struct by_progress_style by_running_style(const struct by_cli *cli)
{
    return (struct by_progress_style){
        .quiet = cli->common.quiet, .color = cli->out.color, .json = cli->common.json};
}

int by_running_check(const struct by_loaded *loaded, const struct by_running_settings *settings,
                     struct baryon_error *err)
{
    const struct by_check_options rules = {.custom_ops = settings->engine.ops_library.count > 0,
                                           .any_order = true};
    return by_model_check(loaded->model, &rules, NULL, NULL, err);
}

void by_running_engine(const struct by_running_settings *settings, const struct by_ort *ort,
                       char *buf, size_t size)
{
    const struct by_setting_texts *providers = &settings->engine.provider;
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "ONNX Runtime %s", ort->version);
    for (size_t i = 0; i < providers->count; i++)
        by_text_add(&text, ", %s", providers->at[i]);
    if (!providers->count)
        by_text_add(&text, ", cpu");
}

#define LABEL_WIDTH 10
#define PAGE_WIDTH  79

void by_running_line(struct by_out *out, const char *label, const char *text, const char *more)
{
    struct by_str clean;
    by_str_init(&clean);
    by_clean(&clean, text);
    if (more) {
        by_str_puts(&clean, ": ");
        by_clean(&clean, more);
    }
    by_str_puts(&out->text, "  ");
    by_out_printf(out, BY_DIM, "%-*s", LABEL_WIDTH, label);
    by_wrap(&out->text, by_str_text(&clean), 2 + LABEL_WIDTH, 2 + LABEL_WIDTH, PAGE_WIDTH);
    by_str_puts(&out->text, "\n");
    out->text.failed |= clean.failed;
    by_str_release(&clean);
}
