/* Layers that were solved, in a file beside the output: the same command goes on after them. */
#include "base/file.h"
#include "base/journal.h"
#include "reconstruct/reconstruct_internal.h"

#include <string.h>

/* Raised when a layer is solved otherwise than before, or records look otherwise. */
#define METHOD 7

/* --- What decides what comes out --- */

static void add_settings(struct by_hasher *hasher, const struct by_reconstruction *all)
{
    const struct by_round_options *options = &all->options->round;
    const struct by_reconstruct_model *model = all->model;
    const double numbers[] = {options->mix, options->damping};
    by_hasher_number(hasher, METHOD);
    by_hasher_text(hasher, baryon_version());
    by_hasher_number(hasher, options->gptq);
    by_hasher_number(hasher, options->relaxation);
    by_hasher_number(hasher, options->starts);
    by_hasher_number(hasher, options->fixed_biases);
    by_hasher_number(hasher, options->free);
    by_hasher_add(hasher, numbers, sizeof numbers);
    by_hasher_number(hasher, model->layer_count);
    for (size_t i = 0; i < model->layer_count; i++)
        by_hasher_text(hasher, model->layers[i].name);
    by_hasher_number(hasher, model->train);
    by_hasher_number(hasher, model->judging);
}

static int find_key(const struct by_reconstruction *all, struct by_hash128 *key,
                    struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    add_settings(hasher, all);
    const int status = all->model->key(all->model->context, hasher, err);
    *key = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return status;
}

/* --- Records --- */

/* Before the integers, biases, scales that were solved and, with these or where the copy has
 * floats, weights of a layer that was kept. */
struct head {
    uint64_t place, rows, left_out, weights, biases, scales, floats;
    double nearest, solved;
    int32_t least; /* of the integers, which are as far above it as their bytes say */
    uint32_t width, run, kept;
    uint32_t unused; /* 0 */
};

static void count_values(const struct by_reconstruction *all, const struct by_round_choice *choice,
                         size_t place, struct head *head)
{
    const struct by_round_target *target = all->target;
    const size_t outs = target->groups * target->outs;
    if (!choice)
        return;
    head->weights = (uint64_t)outs * target->columns;
    head->biases = choice->biases ? outs : 0;
    head->scales = choice->scales ? by_round_scale_count(target) : 0;
    head->floats = choice->scales || all->model->layers[place].keeps_values ? head->weights : 0;
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
static bool fits(const struct by_reconstruction *all, const struct head *head, size_t place,
                 size_t size)
{
    struct head wanted = {0};
    const struct by_round_choice like = {.biases = all->target->biases ? &(float){0} : NULL,
                                         .scales = head->scales ? &(float){0} : NULL};
    count_values(all, head->kept ? &like : NULL, place, &wanted);
    return head->run == all->options->run && head->place == place &&
           head->weights == wanted.weights && head->biases == wanted.biases &&
           head->scales == wanted.scales && head->floats == wanted.floats &&
           (head->width == 1 || head->width == 2 || head->width == 4) && size == size_of(head);
}

/* --- Opening --- */

static void report_found(const struct by_reconstruct_options *options, enum by_journal_found found)
{
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

int by_reconstruct_keep_open(struct by_reconstruction *all, struct baryon_error *err)
{
    struct by_hash128 key;
    enum by_journal_found found = BY_JOURNAL_NEW;
    const struct by_reconstruct_options *options = all->options;
    struct by_reconstruct_keep *keep = options->keep;
    if (!options->checkpoint || !keep || keep->is_open)
        return 0;
    keep->is_open = true;
    if (find_key(all, &key, err) < 0 ||
        by_journal_open(&keep->journal, options->checkpoint, key, &found, err) < 0)
        return -1;
    report_found(options, found);
    keep->reads = found == BY_JOURNAL_SAME;
    return 0;
}

void by_reconstruct_keep_close(struct by_reconstruct_keep *keep, const struct by_log *log)
{
    if (log && keep->reads && keep->taken_up)
        by_log(log, BY_LOG_NOTICE, "rounding reconstruction: resumed after all layers");
    by_journal_close(keep->journal);
}

/* --- A layer --- */

static int take_up(struct by_reconstruction *all, size_t place, const uint8_t *bytes, size_t size,
                   struct baryon_error *err)
{
    struct head head;
    if (size < sizeof head)
        return 0;
    memcpy(&head, bytes, sizeof head);
    if (!fits(all, &head, place, size))
        return 0;
    struct by_reconstruct_known *known = &all->known;
    struct by_solved_layer *row = &all->solved->layers[place];
    if (head.kept && read_values(&head, bytes + sizeof head, &known->choice, err) < 0)
        return -1;
    known->is_there = true;
    all->left_out = head.left_out;
    row->rows = head.rows;
    row->columns = all->target->columns;
    row->nearest = head.nearest;
    row->solved = head.solved;
    row->kept = head.kept;
    return 0;
}

int by_reconstruct_keep_next(struct by_reconstruction *all, size_t place, struct baryon_error *err)
{
    const uint8_t *bytes;
    size_t size;
    struct by_reconstruct_keep *keep = all->options->keep;
    by_round_choice_release(&all->known.choice);
    all->known = (struct by_reconstruct_known){0};
    if (!keep || !keep->reads)
        return 0;
    if (by_journal_next(keep->journal, &bytes, &size, err) < 0 ||
        (bytes && take_up(all, place, bytes, size, err) < 0))
        return -1;
    if (all->known.is_there) {
        all->taken_up++;
        keep->taken_up++;
        return 0;
    }
    keep->reads = false;
    by_journal_stop(keep->journal);
    if (place || all->options->repeats)
        by_log(all->options->log, BY_LOG_NOTICE,
               "rounding reconstruction: resumed after %zu of %zu layers%s", place,
               all->model->layer_count, all->options->run_name);
    return 0;
}

int by_reconstruct_keep_add(struct by_reconstruction *all, size_t place,
                            const struct by_round_choice *choice, struct baryon_error *err)
{
    const struct by_solved_layer *row = &all->solved->layers[place];
    struct head head;
    if (!all->options->keep || !all->options->keep->journal)
        return 0;
    memset(&head, 0, sizeof head);
    head.place = place;
    head.run = all->options->run;
    head.rows = row->rows;
    head.left_out = by_reconstruct_left_out(all);
    head.nearest = row->nearest;
    head.solved = row->solved;
    head.kept = row->kept;
    count_values(all, choice, place, &head);
    find_width(choice, &head);
    uint8_t *bytes = by_alloc(size_of(&head), 1, err);
    if (!bytes)
        return -1;
    write_record(&head, choice, bytes);
    const int status = by_journal_add(all->options->keep->journal, bytes, size_of(&head), err);
    by_free(bytes);
    return status;
}
