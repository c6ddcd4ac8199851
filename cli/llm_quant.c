/* Report of the commands that write a folder of a language model. */
#include "cli/llm_quant.h"

#include "base/decibels.h"
#include "base/json.h"
#include "report/report.h"

static double bits(const struct by_llm_quantized *result)
{
    const uint64_t weights = result->weights + result->kept;
    return weights ? 8 * (double)result->bytes_out / (double)weights : 0;
}

static double sqnr(double energy, double error)
{
    return by_decibels(energy, error);
}

/* Mean relative error of outputs, in percent. */
static double percent(double sum, uint64_t count)
{
    return count ? 100 * sum / (double)count : 0;
}

static void tell_json(struct by_cli *cli, const char *verb, const char *out, bool searched,
                      const struct by_llm_quantized *result)
{
    struct by_json json;
    by_json_init(&json, &cli->out.text, false);
    by_json_open(&json, NULL, '{');
    by_json_text(&json, "folder", out);
    by_json_int(&json, verb, (int64_t)result->layers);
    by_json_int(&json, "weights", (int64_t)result->weights);
    by_json_int(&json, "other_weights", (int64_t)result->kept);
    by_json_int(&json, "bytes_before", (int64_t)result->bytes_in);
    by_json_int(&json, "bytes", (int64_t)result->bytes_out);
    by_json_double(&json, "bits_per_weight", bits(result));
    if (searched && result->sums.error > 0) {
        const struct by_llm_errors *sums = &result->sums;
        by_json_double(&json, "sqnr_db", sqnr(sums->energy, sums->error));
        by_json_double(&json, "minmax_sqnr_db", sqnr(sums->energy, sums->minmax_error));
    }
    if (result->solved) {
        by_json_int(&json, "solved", (int64_t)result->solved);
        by_json_bool(&json, "held_out", result->held_out);
        by_json_double(&json, "output_error", percent(result->output, result->solved) / 100);
        by_json_double(&json, "nearest_output_error",
                       percent(result->nearest, result->solved) / 100);
    }
    by_json_close(&json, '}');
    by_str_puts(&cli->out.text, "\n");
}

static void tell_solved(struct by_cli *cli, const struct by_llm_quantized *result)
{
    char count[32];
    if (result->solved)
        by_out_printf(&cli->out, BY_PLAIN,
                      "%s layers solved: error of outputs %.3f %% on %s, nearest %.3f %%\n",
                      by_count_text(result->solved, count, sizeof count),
                      percent(result->output, result->solved),
                      result->held_out ? "held-out windows" : "the same windows",
                      percent(result->nearest, result->solved));
    if (result->unreached)
        by_out_printf(&cli->out, BY_PLAIN, "%s layers of experts no token came to: nearest\n",
                      by_count_text(result->unreached, count, sizeof count));
}

void by_llm_say_repeat(const struct by_cli *cli, struct by_str *text)
{
    by_str_printf(text, "baryon %s ", cli->command->name);
    by_report_say_command(cli->words, cli->word_count, text);
}

void by_llm_show_layer(void *context, size_t done, size_t all)
{
    struct by_llm_show *show = context;
    const struct by_progress_style style = by_running_style(show->cli);
    if (!show->begun)
        by_progress_begin(&show->progress, show->what, "layers", 0, all, &style);
    show->begun = true;
    by_progress_step(&show->progress, done);
}

void by_llm_show_end(struct by_llm_show *show)
{
    if (show->begun)
        by_progress_end(&show->progress);
    show->begun = false;
}

void by_llm_quant_tell(struct by_cli *cli, const char *verb, const char *out, bool searched,
                       const struct by_llm_quantized *result)
{
    const struct by_llm_errors *sums = &result->sums;
    char before[32], after[32], count[32];
    if (cli->common.json) {
        tell_json(cli, verb, out, searched, result);
        return;
    }
    if (cli->common.quiet)
        return;
    by_out_printf(&cli->out, BY_BOLD, "%s", out);
    by_out_printf(&cli->out, BY_PLAIN, ": %s layers %s, %s to %s, %.2f bits per weight\n",
                  by_count_text(result->layers, count, sizeof count), verb,
                  by_bytes_text(result->bytes_in, before, sizeof before),
                  by_bytes_text(result->bytes_out, after, sizeof after), bits(result));
    if (searched && sums->error > 0) {
        const double found = sqnr(sums->energy, sums->error);
        by_out_printf(&cli->out, BY_PLAIN,
                      "SQNR of weights %.2f dB, %+.2f dB by the search of scales\n", found,
                      found - sqnr(sums->energy, sums->minmax_error));
    }
    tell_solved(cli, result);
}
