/* Layers that were looked at and probed, as records of a journal beside the output. */
#include "llm/auto/auto_internal.h"

#include "llm/output.h"

#include <stdio.h>
#include <string.h>

static int path_of(const struct by_bits_search *s, char *path, size_t size,
                   struct baryon_error *err)
{
    const int length = snprintf(path, size, "%s.search.part", s->out);
    return length < 0 || (size_t)length >= size
               ? by_fail(err, BARYON_ERR_USAGE, "the path is too long")
               : 0;
}

/* Everything that a record depends on. */
static int key_of(const struct by_bits_search *s, struct by_hash128 *key, struct baryon_error *err)
{
    const struct by_bits_windows *w = &s->windows;
    const size_t ids = w->choose * w->length * sizeof *w->choose_ids;
    struct by_str text;
    char hash[33];
    by_str_init(&text);
    by_str_printf(&text, "auto, probes of groups %llu %llu %llu %s",
                  (unsigned long long)s->probe_size, (unsigned long long)s->options->probe_windows,
                  (unsigned long long)s->options->probe_layers,
                  by_hash128_text(by_hash128(w->choose_ids, ids), hash));
    by_llm_calibrated_name(&s->calibrated, &text);
    for (size_t t = 0; t < s->type_count; t++)
        by_str_printf(&text, " %s", s->types[t].name);
    for (size_t i = 0; i < s->linear_count; i++)
        by_str_printf(&text, " %zu", s->linears[i].weight);
    int status = by_str_error(&text, err);
    if (!status)
        status = by_llm_output_key(s->opened.checkpoint, by_str_text(&text), key, err);
    by_str_release(&text);
    return status;
}

/* Errors of the layer's linears in each type, then what an error of each kind counts; to a record,
 * or back. How many numbers. */
static size_t numbers_of(const struct by_bits_search *s, size_t layer, double *record, bool back)
{
    const size_t row = s->type_count * sizeof *record, kinds = BY_BITS_KINDS * sizeof *record;
    double *factor = s->factor + layer * BY_BITS_KINDS;
    size_t count = 0;
    for (size_t i = 0; i < s->linear_count; i++) {
        if (s->linears[i].layer != layer)
            continue;
        double *solved = s->solved + i * s->type_count;
        memcpy(back ? solved : record + count, back ? record + count : solved, row);
        count += s->type_count;
    }
    memcpy(back ? factor : record + count, back ? record + count : factor, kinds);
    return count + BY_BITS_KINDS;
}

static size_t most_numbers(const struct by_bits_search *s)
{
    return s->linear_count * s->type_count + BY_BITS_KINDS;
}

static int read_records(struct by_bits_search *s, double *record, double *kept,
                        struct baryon_error *err)
{
    const uint8_t *bytes;
    size_t size;
    for (s->looked = 0; s->looked < s->calibrated.decoder.layers; s->looked++) {
        if (by_journal_next(s->journal, &bytes, &size, err))
            return -1;
        if (!bytes)
            break;
        if (size != numbers_of(s, s->looked, kept, false) * sizeof *record) {
            by_journal_stop(s->journal);
            break;
        }
        memcpy(record, bytes, size);
        numbers_of(s, s->looked, record, true);
    }
    if (s->looked)
        by_log(s->log, BY_LOG_NOTICE, "an earlier search has looked at %zu of %zu layers: go on",
               s->looked, s->calibrated.decoder.layers);
    return 0;
}

int by_bits_record_open(struct by_bits_search *s, struct baryon_error *err)
{
    enum by_journal_found found;
    struct by_hash128 key;
    char path[4096];
    if (path_of(s, path, sizeof path, err) || key_of(s, &key, err) ||
        by_journal_open(&s->journal, path, key, &found, err))
        return -1;
    if (found == BY_JOURNAL_BUSY)
        return by_fail(err, BARYON_ERR_USAGE, "%s: another process writes to it", path);
    s->record = by_arena_alloc(&s->arena, 2 * most_numbers(s), sizeof *s->record, err);
    return s->record ? read_records(s, s->record, s->record + most_numbers(s), err) : -1;
}

int by_bits_record_layer(struct by_bits_search *s, size_t layer, struct baryon_error *err)
{
    const size_t count = numbers_of(s, layer, s->record, false);
    return by_journal_add(s->journal, s->record, count * sizeof *s->record, err);
}

void by_bits_record_close(struct by_bits_search *s)
{
    by_journal_close(s->journal);
    s->journal = NULL;
}

int by_bits_record_remove(const struct by_bits_search *s, struct baryon_error *err)
{
    char path[4096];
    return path_of(s, path, sizeof path, err) || by_remove_file(path, err) ? -1 : 0;
}
