/* Defines the options of a calibration and turns them into its struct. */
#include "settings/calibrate.h"

#include "base/str.h"
#include "calib/votes.h"

#include <string.h>

#define MEMBER(member) offsetof(struct by_calibrate_settings, member)

static const struct by_choice tensor_choices[] = {
    {"seen", BY_TARGETS_SEEN, "float tensors of the main graph, except inside operator fusions"},
    {"all", BY_TARGETS_ALL, "all float tensors of the main graph"},
    {0},
};

static const struct by_option rows[] = {
    {.name = "out",
     .letter = 'o',
     .type = BY_OPT_TEXT,
     .not_in_files = BY_NAMES_OUTPUT,
     .arg = "FILE",
     .offset = MEMBER(out),
     .help = "Write the statistics to FILE, usually NAME.stats (required)"},
    {.name = "tensors",
     .type = BY_OPT_CHOICE,
     .arg = "SET",
     .choices = tensor_choices,
     .fallback = "seen",
     .offset = MEMBER(tensors),
     .help = "Tensors to gather statistics of"},
    {.name = "per-channel",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(per_channel),
     .help = "Also store the minimum and maximum of each channel"},
    {.name = "moments",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(moments),
     .help = "Also store the Gram matrix of the input of each layer with weights, from which "
             "'baryon quantize --stats FILE --rounding METHOD' solves without samples"},
    {.name = "votes",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(votes),
     .help = "Also store the power-of-two scale that each sample alone would choose, for the "
             "method minmse-pow2-common"},
    {.name = "max-memory",
     .type = BY_OPT_BYTES,
     .arg = "BYTES",
     .min = 1,
     .max = 9.2e18,
     .fallback = "1GiB",
     .offset = MEMBER(max_memory),
     .help = "Memory limit for statistics; Gram matrices beyond it take further passes over the "
             "samples"},
    {.name = "shard",
     .type = BY_OPT_TEXT,
     .arg = "I/N",
     .offset = MEMBER(shard),
     .help = "Process only shard I of N of the samples; 'baryon merge' joins the results"},
    {.name = "checkpoint-seconds",
     .type = BY_OPT_NUMBER,
     .arg = "SECONDS",
     .min = 0,
     .max = 1e9,
     .fallback = "30",
     .offset = MEMBER(checkpoint_seconds),
     .help = "Seconds between checkpoints in FILE.part, 0 for one after every sample"},
    {.name = "restart",
     .type = BY_OPT_FLAG,
     .offset = MEMBER(restart),
     .help = "Start over and ignore FILE.part"},
    {.name = "force",
     .letter = 'f',
     .type = BY_OPT_FLAG,
     .not_in_files = BY_NAMES_OUTPUT,
     .offset = MEMBER(force),
     .help = "Run and replace FILE, even if it exists or is up to date"},
};

const struct by_option_group by_calibrate_group = BY_OPTION_GROUP("Statistics", rows);

/* "2/4": the second of four parts. */
static int read_shard(const char *text, struct by_calibrate_options *options,
                      struct baryon_error *err)
{
    char first[32] = "", quoted[BY_QUOTE_MAX];
    int64_t shard, shards;
    const char *slash = strchr(text, '/');
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (!slash || !by_parse_i64(first, &shard) || !by_parse_i64(slash + 1, &shards) || shard < 1 ||
        shards < shard)
        return by_fail(err, BARYON_ERR_USAGE, "option --shard is %s, must be I/N with 1 <= I <= N",
                       by_quote(quoted, text));
    options->shard = (uint64_t)shard - 1;
    options->shards = (uint64_t)shards;
    return 0;
}

int by_calibrate_take(struct by_config *config, const struct by_calibrate_settings *settings,
                      const struct by_input_callback *callback, const struct by_log *log,
                      struct by_calibrate_options *options, struct baryon_error *err)
{
    *options = (struct by_calibrate_options){
        .targets = (enum by_target_choice)settings->tensors,
        .per_channel = settings->per_channel,
        .means = true,
        .moments = settings->moments,
        .max_memory = settings->max_memory,
        .checkpoint_seconds = settings->checkpoint_seconds,
        .restart = settings->restart,
        .samples = callback,
        .log = log,
    };
    if (settings->shard && read_shard(settings->shard, options, err) < 0)
        return -1;
    if (settings->votes)
        options->votes = by_vote_all_levels(&options->vote_count);
    return by_running_take(config, &settings->running, callback, log, &options->session,
                           &options->input, err);
}
