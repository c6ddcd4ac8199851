/* Keeps samples with the float model's outputs. */
#include "search/samples_internal.h"

#include "base/format.h"
#include "base/thread.h"
#include "onnx/load.h"
#include "trial/more_outputs.h"

#include <string.h>

/* --- Opening --- */

struct by_session_options by_auto_lone_session(const struct by_auto_samples *samples)
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

static int choose_inputs(struct by_auto_samples *samples, struct baryon_error *err)
{
    const struct by_port *inputs = by_session_inputs(samples->session, &samples->input_count);
    samples->input_names = by_arena_alloc(&samples->arena, samples->input_count + 1,
                                          sizeof *samples->input_names, err);
    for (size_t i = 0; samples->input_names && i < samples->input_count; i++)
        if (!(samples->input_names[i] = keep_name(samples, inputs[i].name, err)))
            return -1;
    return samples->input_names ? 0 : -1;
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

static int keep_sample(struct by_auto_samples *samples, struct by_auto_kept *kept,
                       const struct by_array *arrays, const char *name, struct baryon_error *err)
{
    struct by_run *run = NULL;
    size_t count;
    by_format(kept->name, sizeof kept->name, "%s", name);
    const double begin = by_seconds();
    if (by_session_run(samples->session, arrays, samples->input_count, samples->outputs.names,
                       samples->outputs.count, &run, err) < 0) {
        by_err_in(err, "float model");
        return by_err_in(err, "sample '%s'", name);
    }
    samples->seconds += by_seconds() - begin;
    int status =
        park_all(samples, arrays, samples->input_names, samples->input_count, &kept->inputs, err);
    if (status == 0)
        status = park_all(samples, by_run_outputs(run, &count), samples->outputs.names,
                          samples->outputs.count, &kept->outputs, err);
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
        struct by_auto_kept *kept = &samples->kept[i];
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
    const struct by_auto_kept *kept = samples->kept;
    size_t classes = 0;
    if (!path)
        return 0;
    if (by_labels_read(&samples->arena, path, &samples->labels, err) < 0)
        return -1;
    while (kept->skipped)
        kept++;
    for (size_t i = 0; i < samples->outputs.count && !classes; i++) {
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
    struct by_session_options options = by_auto_lone_session(samples);
    options.optimization = -1;
    return by_more_outputs_session(&samples->session, model, selects->values, selects->count,
                                   &options, err) < 0
               ? by_err_in(err, "float model")
               : 0;
}

static int open_float_model(struct by_auto_samples *samples, struct baryon_model *model,
                            struct baryon_error *err)
{
    struct by_selects selects;
    int status = by_selects_find(model, &selects, err);
    if (status == 0)
        status = open_float_session(samples, model, &selects, err);
    if (status == 0)
        status = choose_inputs(samples, err);
    if (status == 0)
        status = by_float_outputs_choose(&samples->outputs, samples->session, model->graph,
                                         &selects, &samples->arena, err);
    if (status == 0 && !samples->outputs.count)
        status = by_fail(err, BARYON_ERR_UNSUPPORTED,
                         "no output of the model has a float type, so nothing can be measured");
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
        for (size_t k = 0; samples->kept[i].outputs && k < samples->outputs.count; k++)
            by_park_drop(samples->depot, &samples->kept[i].outputs[k]);
    }
    for (size_t i = 0; i < READINGS; i++)
        for (size_t k = 0; samples->rooms[i] && k < samples->input_count; k++)
            by_unpark_room_release(&samples->rooms[i][k]);
    by_auto_samples_leave(samples);
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
    const struct by_auto_kept *kept = &samples->kept[reader->next++];
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

static int read_part(struct by_auto_samples *samples, enum by_auto_part part,
                     enum by_auto_reading place, struct by_auto_reader *reader,
                     struct by_input_callback *callback, struct baryon_error *err)
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
