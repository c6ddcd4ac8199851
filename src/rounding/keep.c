/* Layers that were solved, in a file beside the output: the same command goes on behind them. */
#include "base/file.h"
#include "base/journal.h"
#include "rounding/rounding_internal.h"

#include <string.h>

/* Raised when a layer is solved otherwise than before, or records look otherwise. */
#define METHOD 4

static const char *const ways[] = {
    [BY_ROUNDING_NO_SCALES] = "",
    [BY_ROUNDING_SCALES_OF_LAYERS] = ", with scales by the outputs of layers",
    [BY_ROUNDING_SCALES_OF_MODEL] = ", with scales by the outputs of the model",
};

/* --- What decides what comes out --- */

static int add_sample(struct by_hasher *hasher, const struct by_solving *solving,
                      const struct by_parked *arrays, size_t count, struct baryon_error *err)
{
    struct by_unpark_room room = {0};
    struct by_array array;
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        status = by_unpark(solving->depot, &arrays[i], &room, &array, err);
        if (status < 0 || array.elem == BY_ELEM_STRING)
            continue;
        by_hasher_text(hasher, array.name);
        by_hasher_number(hasher, array.rank);
        for (size_t axis = 0; axis < array.rank; axis++)
            by_hasher_number(hasher, (uint64_t)array.dims[axis]);
        by_hasher_add(hasher, array.data, array.size);
    }
    by_unpark_room_release(&room);
    return status;
}

static int add_model(struct by_hasher *hasher, struct baryon_model *model, struct baryon_error *err)
{
    struct by_hash128 hash;
    if (by_model_content_hash(model, &hash, err) < 0)
        return -1;
    by_hasher_add(hasher, &hash, sizeof hash);
    return 0;
}

static void add_settings(struct by_hasher *hasher, const struct by_solving *solving)
{
    const struct by_recipe *recipe = &solving->recipe;
    const struct by_session_options *session = &solving->q->options->calibrate.session;
    const double numbers[] = {recipe->rounding_mix, recipe->rounding_damping};
    by_hasher_number(hasher, METHOD);
    by_hasher_text(hasher, baryon_version());
    by_hasher_number(hasher, (uint64_t)recipe->rounding);
    by_hasher_number(hasher, recipe->rounding_starts);
    by_hasher_number(hasher, recipe->rounding_iterations);
    by_hasher_number(hasher, recipe->rounding_on_float);
    by_hasher_number(hasher, recipe->rounding_biases);
    by_hasher_number(hasher, recipe->rounding_free);
    by_hasher_number(hasher, recipe->rounding_scales);
    by_hasher_add(hasher, numbers, sizeof numbers);
    by_hasher_number(hasher, (uint64_t)session->optimization);
    by_hasher_number(hasher, session->deterministic);
    for (size_t i = 0; i < session->provider_count; i++)
        by_hasher_text(hasher, session->providers[i]);
    by_hasher_number(hasher, solving->layer_count);
    for (size_t i = 0; i < solving->layer_count; i++)
        by_hasher_text(hasher, solving->layers[i].rows.name);
    by_hasher_number(hasher, solving->train);
    by_hasher_number(hasher, solving->judging);
}

/* The quantized model has all that calibration and the plan's settings made of it. */
static int find_key(const struct by_solving *solving, struct by_hash128 *key,
                    struct baryon_error *err)
{
    struct by_hasher *hasher;
    size_t count;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    add_settings(hasher, solving);
    int status = add_model(hasher, solving->reference, err);
    if (status == 0)
        status = add_model(hasher, solving->copy.model, err);
    for (size_t i = 0; status == 0 && i < by_judge_kept(solving->judge); i++) {
        const struct by_parked *arrays = by_judge_parked(solving->judge, i, &count);
        status = add_sample(hasher, solving, arrays, count, err);
    }
    *key = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return status;
}

/* --- Records --- */

/* In front of the integers, biases, scales that were solved and, with these or where the copy has
 * floats, weights of a layer that was kept. */
struct head {
    uint64_t place, rows, left_out, weights, biases, scales, floats;
    double nearest, solved;
    int32_t least; /* of the integers, which are as far above it as their bytes say */
    uint32_t width, way, kept;
    uint32_t unused; /* 0 */
};

static void count_values(const struct by_solving *solving, const struct by_round_choice *choice,
                         size_t place, struct head *head)
{
    const struct by_round_layer *layer = &solving->layers[place];
    if (!choice)
        return;
    head->weights = (uint64_t)layer->groups * layer->outs * layer->columns;
    head->biases = choice->biases ? layer->groups * layer->outs : 0;
    head->scales = choice->scales ? by_round_scale_count(solving->q->plan, layer) : 0;
    head->floats = choice->scales || by_rounding_floats_stay(solving) ||
                           by_round_has_grid(solving->q->plan, layer)
                       ? head->weights
                       : 0;
}

static void find_width(const struct by_round_choice *choice, struct head *head)
{
    int64_t most = INT32_MIN;
    head->least = INT32_MAX;
    for (size_t i = 0; i < head->weights; i++) {
        head->least = choice->integers[i] < head->least ? choice->integers[i] : head->least;
        most = choice->integers[i] > most ? choice->integers[i] : most;
    }
    const int64_t range = head->weights ? most - head->least : 0;
    head->width = range < 256 ? 1 : range < 65536 ? 2 : 4;
}

static size_t size_of(const struct head *head)
{
    return sizeof *head +
           (size_t)(head->weights * head->width + 4 * (head->biases + head->scales + head->floats));
}

static uint8_t *put_floats(uint8_t *bytes, const float *values, uint64_t count)
{
    if (count)
        memcpy(bytes, values, count * sizeof *values);
    return bytes + count * sizeof *values;
}

static int take_floats(const uint8_t **bytes, uint64_t count, float **values,
                       struct baryon_error *err)
{
    if (!count)
        return 0;
    *values = by_alloc(count, sizeof **values, err);
    if (!*values)
        return -1;
    memcpy(*values, *bytes, count * sizeof **values);
    *bytes += count * sizeof **values;
    return 0;
}

static void write_record(const struct head *head, const struct by_round_choice *choice,
                         uint8_t *bytes)
{
    memcpy(bytes, head, sizeof *head);
    bytes += sizeof *head;
    if (!choice)
        return;
    for (size_t i = 0; i < head->weights; i++) {
        const uint32_t above = (uint32_t)((int64_t)choice->integers[i] - head->least);
        for (uint32_t k = 0; k < head->width; k++)
            *bytes++ = (uint8_t)(above >> 8 * k);
    }
    bytes = put_floats(bytes, choice->biases, head->biases);
    bytes = put_floats(bytes, choice->scales, head->scales);
    (void)put_floats(bytes, choice->weights, head->floats);
}

static int read_values(const struct head *head, const uint8_t *bytes,
                       struct by_round_choice *choice, struct baryon_error *err)
{
    choice->integers = by_alloc(head->weights, sizeof *choice->integers, err);
    if (!choice->integers)
        return -1;
    for (size_t i = 0; i < head->weights; i++) {
        uint32_t above = 0;
        for (uint32_t k = 0; k < head->width; k++)
            above |= (uint32_t)*bytes++ << 8 * k;
        choice->integers[i] = (int32_t)((int64_t)head->least + above);
    }
    return take_floats(&bytes, head->biases, &choice->biases, err) < 0 ||
                   take_floats(&bytes, head->scales, &choice->scales, err) < 0 ||
                   take_floats(&bytes, head->floats, &choice->weights, err) < 0
               ? -1
               : 0;
}

/* Whatever the hash says, nothing beyond the record is read. */
static bool fits(const struct by_solving *solving, const struct head *head, size_t place,
                 size_t size)
{
    const struct by_round_layer *layer = &solving->layers[place];
    struct head wanted = {0};
    const struct by_round_choice like = {.biases = layer->bias ? &(float){0} : NULL,
                                         .scales = head->scales ? &(float){0} : NULL};
    count_values(solving, head->kept ? &like : NULL, place, &wanted);
    return head->way == solving->scales && head->place == place &&
           head->weights == wanted.weights && head->biases == wanted.biases &&
           head->scales == wanted.scales && head->floats == wanted.floats &&
           (head->width == 1 || head->width == 2 || head->width == 4) && size == size_of(head);
}

/* --- Opening --- */

static void tell(const struct by_solving *solving, enum by_journal_found found)
{
    const struct by_quantize_options *options = solving->q->options;
    if (found == BY_JOURNAL_OTHER)
        by_log(options->log, BY_LOG_NOTICE,
               "%s: the checkpoint belongs to a run with other settings, samples or another model; "
               "rounding reconstruction starts over",
               options->checkpoint);
    else if (found == BY_JOURNAL_BUSY)
        by_log(options->log, BY_LOG_NOTICE,
               "%s: another process uses this checkpoint; this run writes none",
               options->checkpoint);
}

int by_rounding_keep_open(struct by_solving *solving, struct baryon_error *err)
{
    struct by_hash128 key;
    enum by_journal_found found = BY_JOURNAL_NEW;
    struct by_rounding_keep *keep = solving->keep;
    if (!solving->q->options->checkpoint || keep->is_open)
        return 0;
    keep->is_open = true;
    if (find_key(solving, &key, err) < 0 ||
        by_journal_open(&keep->journal, solving->q->options->checkpoint, key, &found, err) < 0)
        return -1;
    tell(solving, found);
    keep->reads = found == BY_JOURNAL_SAME;
    return 0;
}

void by_rounding_keep_close(struct by_rounding_keep *keep)
{
    by_journal_close(keep->journal);
}

/* --- A layer --- */

static int take_up(struct by_solving *solving, size_t place, const uint8_t *bytes, size_t size,
                   struct baryon_error *err)
{
    struct head head;
    if (size < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (!fits(solving, &head, place, size))
        return 0;
    struct by_rounding_known *known = &solving->known;
    struct by_solved_layer *row = &solving->q->report.solved.layers[place];
    if (head.kept && read_values(&head, bytes + sizeof head, &known->choice, err) < 0)
        return -1;
    known->is_there = true;
    solving->left_out = head.left_out;
    row->rows = head.rows;
    row->columns = solving->layers[place].columns;
    row->nearest = head.nearest;
    row->solved = head.solved;
    row->kept = head.kept;
    return 0;
}

int by_rounding_keep_next(struct by_solving *solving, size_t place, struct baryon_error *err)
{
    const uint8_t *bytes;
    size_t size;
    struct by_rounding_keep *keep = solving->keep;
    by_round_choice_release(&solving->known.choice);
    solving->known = (struct by_rounding_known){0};
    if (!keep->reads)
        return 0;
    if (by_journal_next(keep->journal, &bytes, &size, err) < 0 ||
        (bytes && take_up(solving, place, bytes, size, err) < 0))
        return -1;
    if (solving->known.is_there) {
        solving->taken_up++;
        return 0;
    }
    keep->reads = false;
    by_journal_stop(keep->journal);
    if (place || solving->scales != BY_ROUNDING_NO_SCALES)
        by_log(solving->q->options->log, BY_LOG_NOTICE,
               "rounding reconstruction: resumed after %zu of %zu layers%s", place,
               solving->layer_count, ways[solving->scales]);
    return 0;
}

int by_rounding_keep_add(struct by_solving *solving, size_t place,
                         const struct by_round_choice *choice, struct baryon_error *err)
{
    const struct by_solved_layer *row = &solving->q->report.solved.layers[place];
    struct head head;
    if (!solving->keep->journal)
        return 0;
    memset(&head, 0, sizeof head);
    head.place = place;
    head.way = solving->scales;
    head.rows = row->rows;
    head.left_out = solving->left_out + by_round_left_out(solving->scratch);
    head.nearest = row->nearest;
    head.solved = row->solved;
    head.kept = row->kept;
    count_values(solving, choice, place, &head);
    find_width(choice, &head);
    uint8_t *bytes = by_alloc(size_of(&head), 1, err);
    if (!bytes)
        return -1;
    write_record(&head, choice, bytes);
    const int status = by_journal_add(solving->keep->journal, bytes, size_of(&head), err);
    by_free(bytes);
    return status;
}

/* What it was for is done: that it stays is no failure. */
void by_rounding_clean(const struct by_quantize_options *options)
{
    char text[1024];
    struct baryon_error problem;
    by_err_clear(&problem);
    if (!options->checkpoint || by_remove_file(options->checkpoint, &problem) == 0)
        return;
    baryon_error_format(&problem, text, sizeof text);
    by_log(options->log, BY_LOG_WARNING, "the checkpoint cannot be removed: %s", text);
}
