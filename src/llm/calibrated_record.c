/* Finished layers as records of a journal beside the output. */
#include "llm/calibrated_internal.h"

#include "llm/ggml/codec.h"

#include <string.h>

int by_llm_streams_open_journal(struct by_llm_streams *streams, struct by_hash128 key,
                                struct baryon_error *err)
{
    enum by_journal_found found;
    const char *path = streams->job->journal;
    if (by_journal_open(&streams->journal, path, key, &found, err))
        return -1;
    return found == BY_JOURNAL_BUSY
               ? by_fail(err, BARYON_ERR_USAGE, "%s: another process writes to it", path)
               : 0;
}

int by_llm_streams_put(struct by_llm_streams *streams, const struct by_llm_item *item,
                       uint8_t *const data[BY_LLM_FIELDS_MAX], struct baryon_error *err)
{
    const uint64_t index = (uint64_t)(item - streams->job->plan->items);
    by_str_add(&streams->record, &index, sizeof index);
    for (size_t i = 0; i < item->fields.count; i++)
        by_str_add(&streams->record, data[i], item->fields.at[i].bytes);
    return streams->job->put(streams->job->context, item, data, err);
}

int by_llm_streams_record(struct by_llm_streams *streams, struct baryon_error *err)
{
    int status = by_str_error(&streams->record, err);
    if (!status)
        status = by_journal_add(streams->journal, streams->record.text, streams->record.size, err);
    by_str_release(&streams->record);
    by_str_init(&streams->record);
    return status;
}

/* --- Back --- */

static int floats_of_fields(const struct by_llm_item *item, uint8_t *const data[BY_LLM_FIELDS_MAX],
                            float *out, struct baryon_error *err)
{
    struct by_llm_tensor tensor = item->tensor;
    struct by_llm_coded coded = {0};
    const uint8_t *fields[BY_LLM_FIELDS_MAX] = {0};
    const size_t rows = item->weight->rows;
    if (item->blocks)
        return by_ggml_decode(item->blocks, data[0], rows * item->weight->columns, out, err);
    for (size_t i = 0; i < item->fields.count; i++)
        fields[i] = data[i];
    int status = by_llm_fields_open(&item->fields, &tensor, fields, err) ||
                 by_llm_coded_open(&coded, &tensor, rows, err);
    if (!status)
        status = by_llm_fields_get(&item->fields, &tensor, fields, 0, rows, &coded, err) ||
                 by_llm_dequantize_rows(&tensor, &coded, rows, out, err);
    by_llm_coded_close(&coded);
    return status ? -1 : 0;
}

/* Bytes of the item's fields from the record on; NULL: it is shorter. */
static const uint8_t *copy_fields(const struct by_llm_item *item, const uint8_t *at,
                                  const uint8_t *end, uint8_t *data[BY_LLM_FIELDS_MAX],
                                  struct baryon_error *err)
{
    for (size_t i = 0; i < item->fields.count; i++) {
        const size_t bytes = item->fields.at[i].bytes;
        if ((size_t)(end - at) < bytes || !(data[i] = by_alloc(bytes ? bytes : 1, 1, err)))
            return NULL;
        memcpy(data[i], at, bytes);
        at += bytes;
    }
    return at;
}

/* The item that comes next, with its place in memory; NULL: that is not there now. */
static struct by_llm_item *next_item(struct by_llm_streams *streams, float **values)
{
    const struct by_llm_plan *plan = streams->job->plan;
    uint64_t index = UINT64_MAX;
    if (streams->found_size >= sizeof index)
        memcpy(&index, streams->found, sizeof index);
    struct by_llm_item *item = index < plan->count ? &plan->items[index] : NULL;
    *values = item && item->method ? by_llm_streams_values(streams, item->weight) : NULL;
    return *values ? item : NULL;
}

static int resume_item(struct by_llm_streams *streams, struct by_llm_item *item, float *values,
                       struct baryon_error *err)
{
    const uint8_t *at = streams->found, *end = at + streams->found_size;
    uint8_t *data[BY_LLM_FIELDS_MAX] = {0};
    const uint8_t *next = copy_fields(item, at + sizeof(uint64_t), end, data, err);
    int status = next ? floats_of_fields(item, data, values, err) : -1;
    if (!status) {
        streams->found = next;
        streams->found_size = (size_t)(end - next);
        item->resumed = true;
        return streams->job->put(streams->job->context, item, data, err);
    }
    for (size_t i = 0; i < BY_LLM_FIELDS_MAX; i++)
        by_free(data[i]);
    return -1;
}

int by_llm_streams_peek(struct by_llm_streams *streams, bool *found, struct baryon_error *err)
{
    if (by_journal_next(streams->journal, &streams->found, &streams->found_size, err))
        return -1;
    *found = streams->found != NULL;
    return 0;
}

int by_llm_streams_resume(struct by_llm_streams *streams, struct baryon_error *err)
{
    struct by_llm_item *item;
    float *values;
    while ((item = next_item(streams, &values)))
        if (resume_item(streams, item, values, err))
            return -1;
    return 0;
}

int by_llm_streams_resumed(const struct by_llm_streams *streams, struct baryon_error *err)
{
    return streams->found_size ? by_fail(err, BARYON_ERR_INPUT,
                                         "the record of layer %zu is damaged", streams->layer)
                               : 0;
}
