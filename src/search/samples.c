/* Keeps samples with the float model's outputs, and measures candidates against them. */
#include "search/samples.h"

#include "base/format.h"
#include "base/thread.h"
#include "onnx/load.h"
#include "trial/more_outputs.h"
#include "trial/selects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Outputs of so many samples are in memory together, since measures add up in their order. */
#define TOGETHER 16
/* With more nodes ONNX Runtime takes longer to optimize a graph than runs gain. */
#define MANY_NODES 4000

/* Who reads what is kept: two may be in turns. */
enum reading { READ_CALIBRATING, READ_OTHERS, READINGS };

struct kept {
    char name[300];
    bool skipped;
    struct by_parked *inputs, *outputs;
};

struct by_auto_samples {
    const struct by_auto_source *source;
    const struct by_auto_goals *goals;
    struct by_pool *pool;
    struct by_arena arena;
    struct by_auto_parts parts;
    struct by_session *session; /* of the float model; NULL once its outputs are kept */
    struct by_depot *depot;
    size_t input_count, output_count;
    const char **input_names, **names;
    /* The last ones of the names: values that outputs are selected from, and that stand for them.
     */
    size_t selected_count;
    struct by_labels labels;
    size_t label_output, label_rows; /* of a sample */
    struct kept *kept;               /* of all parts */
    size_t kept_count;
    struct by_evaluate_settings settings;
    struct by_input_callback first; /* those that calibrate */
    struct by_auto_reader reader;   /* where they are kept */
    size_t given;                   /* where they come from the caller again */
    struct by_array *shown[READINGS];
    struct by_unpark_room *rooms[READINGS];
    char text[1024];
    struct by_hash128 identity;
    double seconds;
};

/* --- Opening --- */

static struct by_session_options lone_session(const struct by_auto_samples *samples)
{
    struct by_session_options options = samples->source->session;
    options.threads = 1;
    options.branches = options.cuts = 0;
    options.log = NULL;
    return options;
}

static int choose_metrics(struct by_auto_samples *samples, struct baryon_error *err)
{
    struct by_setting_texts *names = &samples->settings.metrics;
    if (by_list_reserve(&samples->arena, names, samples->goals->count + 1, sizeof *names->at, err) <
        0)
        return -1;
    names->at[names->count++] = "sqnr";
    for (size_t i = 0; i < samples->goals->count; i++)
        if (samples->goals->at[i].metric)
            names->at[names->count++] = samples->goals->at[i].name;
    return 0;
}

static const char *keep_name(struct by_auto_samples *samples, const char *name,
                             struct baryon_error *err)
{
    return by_arena_text(&samples->arena, name, strlen(name), err);
}

/* left_out: bits of the first outputs; NULL: none. */
static int choose_ports(struct by_auto_samples *samples, const bool *left_out, size_t own,
                        struct baryon_error *err)
{
    size_t count;
    const struct by_port *outputs = by_session_outputs(samples->session, &count);
    const struct by_port *inputs = by_session_inputs(samples->session, &samples->input_count);
    samples->names = by_arena_alloc(&samples->arena, count + 1, sizeof *samples->names, err);
    samples->input_names = by_arena_alloc(&samples->arena, samples->input_count + 1,
                                          sizeof *samples->input_names, err);
    if (!samples->names || !samples->input_names)
        return -1;
    for (size_t i = 0; i < samples->input_count; i++)
        if (!(samples->input_names[i] = keep_name(samples, inputs[i].name, err)))
            return -1;
    for (size_t i = 0; i < count; i++)
        if (by_elem_is_floats(outputs[i].elem) && !(left_out && i < own && left_out[i]) &&
            !(samples->names[samples->output_count++] = keep_name(samples, outputs[i].name, err)))
            return -1;
    if (!samples->output_count)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "no output of the model has a float type, so nothing can be measured");
    return 0;
}

/* --- Reading --- */

static int park_all(struct by_auto_samples *samples, const struct by_array *arrays,
                    const char *const *names, size_t count, struct by_parked **parked,
                    struct baryon_error *err)
{
    *parked = by_arena_alloc(&samples->arena, count + 1, sizeof **parked, err);
    for (size_t i = 0; *parked && i < count; i++) {
        if (by_park(samples->depot, &arrays[i], false, &(*parked)[i], err) < 0)
            return -1;
        (*parked)[i].array.name = names[i];
    }
    return *parked ? 0 : -1;
}

static int keep_sample(struct by_auto_samples *samples, struct kept *kept,
                       const struct by_array *arrays, const char *name, struct baryon_error *err)
{
    struct by_run *run = NULL;
    size_t count;
    by_format(kept->name, sizeof kept->name, "%s", name);
    const double begin = by_seconds();
    if (by_session_run(samples->session, arrays, samples->input_count, samples->names,
                       samples->output_count, &run, err) < 0) {
        by_err_in(err, "float model");
        return by_err_in(err, "sample '%s'", name);
    }
    samples->seconds += by_seconds() - begin;
    int status =
        park_all(samples, arrays, samples->input_names, samples->input_count, &kept->inputs, err);
    if (status == 0)
        status = park_all(samples, by_run_outputs(run, &count), samples->names,
                          samples->output_count, &kept->outputs, err);
    by_run_free(run);
    return status;
}

static void hash_sample(struct by_hasher *hasher, const struct by_array *arrays, size_t count)
{
    for (size_t i = 0; arrays && i < count; i++) {
        const char *const *texts = arrays[i].data;
        by_hasher_number(hasher, arrays[i].size);
        by_hasher_add(hasher, arrays[i].dims, arrays[i].rank * sizeof *arrays[i].dims);
        if (arrays[i].elem != BY_ELEM_STRING)
            by_hasher_add(hasher, arrays[i].data, arrays[i].size);
        for (size_t k = 0; arrays[i].elem == BY_ELEM_STRING && k < arrays[i].size / sizeof *texts;
             k++)
            by_hasher_text(hasher, texts[k]);
    }
}

static int read_each(struct by_auto_samples *samples, struct by_input *input,
                     struct by_hasher *hasher, struct baryon_error *err)
{
    size_t ran = 0;
    for (size_t i = 0; i < samples->kept_count; i++) {
        struct kept *kept = &samples->kept[i];
        const struct by_array *arrays;
        const char *name;
        if (by_input_get(input, i, &arrays, &name, err) < 0)
            return -1;
        hash_sample(hasher, arrays, samples->input_count);
        kept->skipped = !arrays;
        if (arrays && keep_sample(samples, kept, arrays, name, err) < 0)
            return -1;
        ran += arrays != NULL;
    }
    if (!ran)
        return by_fail(err, BARYON_ERR_INPUT, "all samples to measure on were skipped");
    samples->seconds /= (double)ran;
    return 0;
}

/* The caller's samples have no path and date: their values tell whether they are those of before.
 */
static int read_kept(struct by_auto_samples *samples, struct by_input *input,
                     struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    const int status = read_each(samples, input, hasher, err);
    if (samples->source->callback)
        samples->identity = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return status;
}

/* --- Labels --- */

/* classes: 0: it has none. */
static size_t rows_of(const struct by_array *array, size_t *classes)
{
    size_t rows = 0;
    struct by_compared pair = {.rank = array->rank, .dims = array->dims};
    *classes = 0;
    if (by_dims_count(pair.dims, pair.rank, &pair.count, NULL) == 0 && by_metric_is_classes(&pair))
        by_metric_rows(&pair, &rows, classes);
    return rows;
}

static int check_labels(const struct by_auto_samples *samples, size_t classes,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < samples->labels.count; i++) {
        const int64_t label = samples->labels.at[i];
        if (label >= 0 && (uint64_t)label < classes)
            continue;
        by_fail(err, BARYON_ERR_INPUT,
                "label %zu is %lld, must be one of the %zu classes from 0 on", i, (long long)label,
                classes);
        return by_err_file(err, samples->source->labels);
    }
    return 0;
}

/* Labels count rows of all samples, of the first output that has classes. */
static int read_labels(struct by_auto_samples *samples, struct baryon_error *err)
{
    const char *path = samples->source->labels;
    const struct kept *kept = samples->kept;
    size_t classes = 0;
    if (!path)
        return 0;
    if (by_labels_read(&samples->arena, path, &samples->labels, err) < 0)
        return -1;
    while (kept->skipped)
        kept++;
    for (size_t i = 0; i < samples->output_count && !classes; i++) {
        samples->label_output = i;
        samples->label_rows = rows_of(&kept->outputs[i].array, &classes);
    }
    if (!classes)
        return by_fail(err, BARYON_ERR_USAGE,
                       "labels are given, but no output has the shape (rows, classes)");
    const size_t wanted = samples->label_rows * samples->parts.total;
    const struct by_hash128 labels =
        by_hash128(samples->labels.at, samples->labels.count * sizeof *samples->labels.at);
    samples->identity = by_hash128_sum(samples->identity, labels);
    if (samples->labels.count == wanted ||
        (samples->source->input.count && samples->labels.count > wanted))
        return check_labels(samples, classes, err);
    by_fail(err, BARYON_ERR_INPUT, "%zu labels for %zu samples of %zu rows, must be %zu",
            samples->labels.count, samples->parts.total, samples->label_rows, wanted);
    return by_err_file(err, path);
}

/* --- The whole --- */

static int identify(struct by_auto_samples *samples, const struct by_input *input,
                    struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    const int status = by_input_identify(input, hasher, err);
    samples->identity = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return status;
}

static int split_samples(struct by_auto_samples *samples, struct by_input *input,
                         enum by_auto_effort effort, const struct by_log *log,
                         struct baryon_error *err)
{
    if (by_input_find_count(input, err) < 0 ||
        by_auto_split(&samples->parts, by_input_count(input), effort, log, err) < 0)
        return -1;
    const struct by_auto_range *of = samples->parts.of;
    samples->kept_count = of[BY_PART_LAST].first + of[BY_PART_LAST].count;
    samples->kept =
        by_arena_alloc(&samples->arena, samples->kept_count, sizeof *samples->kept, err);
    by_input_describe(input, samples->text, sizeof samples->text);
    return samples->kept ? identify(samples, input, err) : -1;
}

static int read_samples(struct by_auto_samples *samples, enum by_auto_effort effort,
                        const struct by_log *log, struct baryon_error *err)
{
    struct by_input *input = NULL;
    const struct by_auto_source *source = samples->source;
    if (by_input_open_for(&input, samples->session, source->callback, source->data, &source->input,
                          err) < 0)
        return -1;
    int status = split_samples(samples, input, effort, log, err);
    if (status == 0)
        status = read_kept(samples, input, err);
    by_input_close(input);
    return status;
}

static int open_float_session(struct by_auto_samples *samples, struct baryon_model *model,
                              const struct by_selects *selects, struct baryon_error *err)
{
    struct by_session_options options = lone_session(samples);
    struct by_more_outputs shown;
    options.optimization = -1;
    int status = by_more_outputs_show(model, selects->values, selects->count, &shown, err);
    if (status == 0 && by_session_open_model(&samples->session, model, 0, &options, err) < 0)
        status = by_err_in(err, "float model");
    by_more_outputs_hide(&shown);
    return status;
}

static int open_float_model(struct by_auto_samples *samples, struct baryon_model *model,
                            struct baryon_error *err)
{
    struct by_selects selects;
    int status = by_selects_find(model, &selects, err);
    samples->selected_count = selects.count;
    if (status == 0)
        status = open_float_session(samples, model, &selects, err);
    if (status == 0)
        status = choose_ports(samples, selects.left_out, model->graph->output.count, err);
    by_selects_release(&selects);
    return status;
}

int by_auto_samples_open(struct by_auto_samples **out, struct baryon_model *model,
                         const struct by_auto_source *source, const struct by_auto_goals *goals,
                         enum by_auto_effort effort, struct by_pool *pool, const struct by_log *log,
                         struct baryon_error *err)
{
    const struct by_depot_options depot = {.folder = source->folder, .budget = source->memory};
    struct by_auto_samples *samples = by_alloc_zero(1, sizeof *samples, err);
    if (!samples)
        return -1;
    *samples = (struct by_auto_samples){.source = source, .goals = goals, .pool = pool};
    by_arena_init(&samples->arena, 0);
    *out = samples;
    if (by_depot_open(&samples->depot, &depot, err) < 0 ||
        open_float_model(samples, model, err) < 0 || choose_metrics(samples, err) < 0 ||
        read_samples(samples, effort, log, err) < 0 || read_labels(samples, err) < 0)
        return -1;
    by_session_close(samples->session);
    samples->session = NULL;
    return 0;
}

void by_auto_samples_close(struct by_auto_samples *samples)
{
    if (!samples)
        return;
    for (size_t i = 0; samples->kept && i < samples->kept_count; i++) {
        for (size_t k = 0; samples->kept[i].inputs && k < samples->input_count; k++)
            by_park_drop(samples->depot, &samples->kept[i].inputs[k]);
        for (size_t k = 0; samples->kept[i].outputs && k < samples->output_count; k++)
            by_park_drop(samples->depot, &samples->kept[i].outputs[k]);
    }
    for (size_t i = 0; i < READINGS; i++)
        for (size_t k = 0; samples->rooms[i] && k < samples->input_count; k++)
            by_unpark_room_release(&samples->rooms[i][k]);
    by_session_close(samples->session);
    by_depot_close(samples->depot);
    by_arena_release(&samples->arena);
    by_free(samples);
}

const struct by_auto_parts *by_auto_samples_parts(const struct by_auto_samples *samples)
{
    return &samples->parts;
}

struct by_hash128 by_auto_samples_identity(const struct by_auto_samples *samples)
{
    return samples->identity;
}

const char *by_auto_samples_text(const struct by_auto_samples *samples)
{
    return samples->text;
}

double by_auto_samples_seconds(const struct by_auto_samples *samples)
{
    return samples->seconds;
}

/* --- The caller's samples that calibrate --- */

static int next_first(void *context, const struct by_array **arrays, size_t *count,
                      const char **name, struct baryon_error *err)
{
    struct by_auto_samples *samples = context;
    const struct by_input_callback *callback = samples->source->callback;
    if (samples->given >= samples->parts.of[BY_PART_CALIBRATE].count)
        return 0;
    samples->given++;
    return callback->next(callback->context, arrays, count, name, err);
}

static int rewind_first(void *context, struct baryon_error *err)
{
    struct by_auto_samples *samples = context;
    const struct by_input_callback *callback = samples->source->callback;
    samples->given = 0;
    return callback->rewind(callback->context, err);
}

/* --- Inputs of those that are kept --- */

static int next_kept(void *context, const struct by_array **arrays, size_t *count,
                     const char **name, struct baryon_error *err)
{
    struct by_auto_reader *reader = context;
    struct by_auto_samples *samples = reader->samples;
    while (reader->next < reader->end && samples->kept[reader->next].skipped)
        reader->next++;
    if (reader->next >= reader->end)
        return 0;
    const struct kept *kept = &samples->kept[reader->next++];
    for (size_t i = 0; i < samples->input_count; i++)
        if (by_unpark(samples->depot, &kept->inputs[i], &samples->rooms[reader->place][i],
                      &samples->shown[reader->place][i], err) < 0)
            return -1;
    *arrays = samples->shown[reader->place];
    *count = samples->input_count;
    *name = kept->name;
    return 0;
}

static int rewind_kept(void *context, struct baryon_error *err)
{
    struct by_auto_reader *reader = context;
    (void)err;
    reader->next = reader->first;
    return 0;
}

static size_t count_good(const struct by_auto_samples *samples, enum by_auto_part part)
{
    const struct by_auto_range *range = &samples->parts.of[part];
    size_t good = 0;
    for (size_t i = range->first; i < range->first + range->count; i++)
        good += !samples->kept[i].skipped;
    return good;
}

static int read_part(struct by_auto_samples *samples, enum by_auto_part part, enum reading place,
                     struct by_auto_reader *reader, struct by_input_callback *callback,
                     struct baryon_error *err)
{
    const size_t count = samples->input_count;
    const struct by_auto_range *range = &samples->parts.of[part];
    struct by_array **shown = &samples->shown[place];
    struct by_unpark_room **rooms = &samples->rooms[place];
    if (!*shown) {
        *shown = by_arena_alloc(&samples->arena, count + 1, sizeof **shown, err);
        *rooms = by_arena_alloc(&samples->arena, count + 1, sizeof **rooms, err);
    }
    if (!*shown || !*rooms)
        return -1;
    *reader = (struct by_auto_reader){samples, place, range->first, range->first,
                                      range->first + range->count};
    *callback = (struct by_input_callback){.next = next_kept,
                                           .rewind = rewind_kept,
                                           .context = reader,
                                           .count = count_good(samples, part)};
    return 0;
}

int by_auto_samples_read(struct by_auto_samples *samples, enum by_auto_part part,
                         struct by_auto_reader *reader, struct by_input_callback *callback,
                         struct baryon_error *err)
{
    return read_part(samples, part, READ_OTHERS, reader, callback, err);
}

int by_auto_samples_calibrate(struct by_auto_samples *samples,
                              const struct by_input_callback **callback, struct baryon_error *err)
{
    const size_t count = samples->parts.of[BY_PART_CALIBRATE].count;
    const struct by_input_callback *caller = samples->source->callback;
    const bool random = samples->source->input.random; /* trials make more of these */
    *callback = &samples->first;
    if (!random && count_good(samples, BY_PART_CALIBRATE) == count) {
        if (read_part(samples, BY_PART_CALIBRATE, READ_CALIBRATING, &samples->reader,
                      &samples->first, err) < 0)
            return -1;
        samples->first.what = caller ? caller->what : samples->text;
        return 0;
    }
    samples->given = 0;
    samples->first = (struct by_input_callback){
        .next = next_first, .rewind = rewind_first, .context = samples, .count = count};
    if (caller)
        samples->first.what = caller->what;
    else
        *callback = NULL;
    return 0;
}

/* --- Measuring --- */

struct measuring {
    struct by_auto_samples *samples;
    struct by_session *session;
    struct by_fitted fitted;
    const char **names;      /* of the candidate's outputs */
    const struct kept *kept; /* the first of the batch */
    struct by_run *runs[TOGETHER];
    struct by_evaluation *evaluation;
};

static int unpark_arrays(struct by_auto_samples *samples, const struct by_parked *parked,
                         size_t count, struct by_array *arrays, struct by_unpark_room *rooms,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (by_unpark(samples->depot, &parked[i], &rooms[i], &arrays[i], err) < 0)
            return -1;
    return 0;
}

static int run_candidate(struct measuring *measuring, size_t place, struct by_arena *arena,
                         struct by_unpark_room *rooms, struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    struct by_array *inputs = by_arena_alloc(arena, samples->input_count + 1, sizeof *inputs, err);
    struct by_fitted fitted = measuring->fitted; /* arrays of its own */
    fitted.arrays = by_arena_alloc(arena, fitted.count + 1, sizeof *fitted.arrays, err);
    if (!inputs || !fitted.arrays ||
        unpark_arrays(samples, measuring->kept[place].inputs, samples->input_count, inputs, rooms,
                      err) < 0 ||
        by_fitted_take(&fitted, inputs, arena, err) < 0)
        return -1;
    return by_session_run(measuring->session, fitted.arrays, fitted.count, measuring->names,
                          samples->output_count, &measuring->runs[place], err);
}

static int run_some(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    struct measuring *measuring = context;
    const size_t count = measuring->samples->input_count;
    int status = 0;
    (void)worker;
    for (size_t i = begin; status == 0 && i < end; i++) {
        struct by_arena arena;
        if (measuring->kept[i].skipped)
            continue;
        by_arena_init(&arena, 0);
        struct by_unpark_room *rooms = by_arena_alloc(&arena, count + 1, sizeof *rooms, err);
        status = rooms ? run_candidate(measuring, i, &arena, rooms, err) : -1;
        for (size_t k = 0; rooms && k < count; k++)
            by_unpark_room_release(&rooms[k]);
        by_arena_release(&arena);
        if (status < 0)
            by_err_in(err, "sample '%s'", measuring->kept[i].name);
    }
    return status;
}

static const int64_t *labels_of(const struct by_auto_samples *samples, size_t sample, size_t output)
{
    const size_t row = sample * samples->label_rows;
    if (!samples->labels.count || output != samples->label_output ||
        row + samples->label_rows > samples->labels.count)
        return NULL;
    return samples->labels.at + row;
}

static int compare_sample(struct measuring *measuring, size_t place, size_t sample,
                          struct baryon_error *err)
{
    size_t count;
    struct by_auto_samples *samples = measuring->samples;
    const struct kept *kept = &measuring->kept[place];
    const struct by_array *got = by_run_outputs(measuring->runs[place], &count);
    struct by_unpark_room room = {0};
    int status = 0;
    for (size_t i = 0; status == 0 && i < samples->output_count; i++) {
        struct by_array want;
        status = by_unpark(samples->depot, &kept->outputs[i], &room, &want, err);
        if (status == 0)
            status = by_evaluation_add(measuring->evaluation, i, kept->name, &want, &got[i],
                                       labels_of(samples, sample, i), err);
    }
    by_unpark_room_release(&room);
    return status;
}

/* In the order of the samples, so that sums do not depend on threads. */
static int measure_batch(struct measuring *measuring, size_t first, size_t count,
                         struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    measuring->kept = samples->kept + first;
    int status = by_par_for(samples->pool, count, 1, run_some, measuring, err);
    for (size_t i = 0; status == 0 && i < count; i++)
        if (measuring->runs[i])
            status = compare_sample(measuring, i, first + i, err);
    for (size_t i = 0; i < count; i++) {
        by_run_free(measuring->runs[i]);
        measuring->runs[i] = NULL;
    }
    return status;
}

/* Of the worst output; NULL: none has the metric. */
static const struct by_score *worst_value(const struct by_evaluation *evaluation,
                                          const char *metric, bool worst, double *value)
{
    const struct by_score *score, *of = NULL;
    *value = (double)NAN;
    for (size_t i = 0; (score = by_evaluation_score(evaluation, i)); i++) {
        const double found = worst ? score->worst : score->mean;
        if (strcmp(score->metric->name, metric) != 0)
            continue;
        if (!of || isnan(*value) || (score->metric->higher ? found < *value : found > *value)) {
            *value = found;
            of = score;
        }
    }
    return of;
}

/* The mean of other samples differs from this one by both errors. */
static double margin_of(const struct by_auto_parts *parts, enum by_auto_part part,
                        const struct by_score *score)
{
    const double ratio = (double)parts->of[part].count / (double)parts->of[BY_PART_LAST].count;
    return score && !parts->shared ? by_score_margin(score, sqrt(1 + ratio)) : 0;
}

static void take_values(const struct measuring *measuring, enum by_auto_part part,
                        struct by_auto_measured *measured)
{
    const struct by_auto_goals *goals = measuring->samples->goals;
    for (size_t i = 0; i < goals->count; i++) {
        const struct by_auto_goal *goal = &goals->at[i];
        const struct by_score *score = NULL;
        measured->values[i] = (double)NAN;
        if (goal->metric)
            score =
                worst_value(measuring->evaluation, goal->name, goal->worst, &measured->values[i]);
        if (measured->margins)
            measured->margins[i] =
                margin_of(&measuring->samples->parts, part, goal->worst ? NULL : score);
    }
    worst_value(measuring->evaluation, "sqnr", false, &measured->sqnr);
}

/* What outputs are selected from may have another name there. */
static int open_shown(struct measuring *measuring, struct baryon_model *model,
                      const struct by_session_options *options, struct by_arena *arena,
                      struct baryon_error *err)
{
    const struct by_auto_samples *samples = measuring->samples;
    const size_t own = samples->output_count - samples->selected_count;
    struct baryon_value *values[BY_SELECTS_MOST];
    struct by_more_outputs shown;
    char quoted[BY_QUOTE_MAX];
    const char **names = by_arena_alloc(arena, samples->output_count, sizeof *names, err);
    if (!names)
        return -1;
    measuring->names = names;
    for (size_t i = 0; i < samples->output_count; i++) {
        names[i] = samples->names[i];
        if (i < own)
            continue;
        if (!(values[i - own] = by_selects_value(model->graph, names[i])))
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "the quantized model has no value %s, which outputs are selected from",
                           by_quote(quoted, names[i]));
        names[i] = values[i - own]->name;
    }
    int status = by_more_outputs_show(model, values, samples->selected_count, &shown, err);
    if (status == 0)
        status = by_session_open_model(&measuring->session, model, 0, options, err);
    by_more_outputs_hide(&shown);
    return status;
}

static int open_candidate(struct measuring *measuring, struct baryon_model *model,
                          struct by_arena *arena, struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    struct by_session_options options = lone_session(samples);
    options.as_written = true;
    options.low_memory = true;
    options.optimization = model->graph->node.count < MANY_NODES ? -1 : 0;
    if (open_shown(measuring, model, &options, arena, err) < 0)
        return -1;
    struct by_fitted *fitted = &measuring->fitted;
    fitted->ports = by_session_inputs(measuring->session, &fitted->count);
    fitted->from = by_arena_alloc(arena, fitted->count + 1, sizeof *fitted->from, err);
    if (!fitted->from)
        return -1;
    for (size_t i = 0; i < fitted->count; i++) {
        size_t k = 0;
        while (k < samples->input_count && strcmp(samples->input_names[k], fitted->ports[i].name))
            k++;
        if (k == samples->input_count)
            return by_fail(err, BARYON_ERR_UNSUPPORTED, "the float model has no input %s",
                           fitted->ports[i].name);
        fitted->from[i] = k;
    }
    return 0;
}

static int measure_part(struct measuring *measuring, struct baryon_model *model,
                        enum by_auto_part part, struct by_arena *arena, struct baryon_error *err)
{
    struct by_auto_samples *samples = measuring->samples;
    const struct by_auto_range *range = &samples->parts.of[part];
    if (by_evaluation_open(&measuring->evaluation, &samples->settings, samples->names,
                           samples->output_count, err) < 0 ||
        open_candidate(measuring, model, arena, err) < 0)
        return -1;
    measuring->evaluation->keeps_each = true;
    for (size_t done = 0; done < range->count; done += TOGETHER) {
        const size_t left = range->count - done;
        if (measure_batch(measuring, range->first + done, left < TOGETHER ? left : TOGETHER, err) <
            0)
            return -1;
    }
    return by_evaluation_finish(measuring->evaluation, err);
}

static bool ends_the_search(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_NOMEM || err->code == BARYON_ERR_IO ||
           err->code == BARYON_ERR_CANCELLED;
}

/* A candidate that cannot be measured is lost, and the search goes on. */
static int lose(struct by_auto_measured *measured, const struct by_auto_goals *goals,
                struct baryon_error *err)
{
    if (ends_the_search(err))
        return -1;
    by_format(measured->why, sizeof measured->why, "%s", err->message);
    for (size_t i = 0; i < goals->count; i++) {
        measured->values[i] = (double)NAN;
        if (measured->margins)
            measured->margins[i] = 0;
    }
    measured->sqnr = (double)NAN;
    by_err_clear(err);
    return 0;
}

int by_auto_samples_measure(struct by_auto_samples *samples, struct baryon_model *model,
                            enum by_auto_part part, struct by_auto_measured *measured,
                            struct baryon_error *err)
{
    struct measuring measuring = {.samples = samples};
    struct by_arena arena;
    measured->why[0] = '\0';
    by_arena_init(&arena, 0);
    int status = measure_part(&measuring, model, part, &arena, err);
    if (status == 0)
        take_values(&measuring, part, measured);
    else
        status = lose(measured, samples->goals, err);
    by_evaluation_close(measuring.evaluation);
    by_session_close(measuring.session);
    by_arena_release(&arena);
    return status;
}
