/* Reads importance matrices, as GGUF files and in the older form. */
#include "llm/importance.h"

#include "llm/store/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SUMS   ".in_sum2"
#define COUNTS ".counts"
/* Names and texts of the older form are shorter. */
#define TEXT_MAX 4096

static int add_weighting(struct by_llm_importance *importance, const char *name,
                         const float *values, uint64_t count, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, name);
    if (by_map_get(&importance->by_name, name))
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s has two entries, must have one", quoted);
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0)
            return by_fail(err, BARYON_ERR_INPUT,
                           "tensor %s: value %" PRIu64 " is %g, must be finite and 0 or more",
                           quoted, i, (double)values[i]);
    struct by_llm_weighting *added = &importance->at[importance->count++];
    *added = (struct by_llm_weighting){.name = name, .values = values, .count = count};
    return by_map_put(&importance->by_name, name, added, err);
}

/* --- GGUF --- */

static float float_at(const uint8_t *bytes, uint64_t index)
{
    float value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
}

/* Sums of squares divided by the number of tokens; 1 where an expert saw none. */
static void divide_sums(float *sums, const uint8_t *counts, uint64_t matrices, uint64_t width)
{
    for (uint64_t m = 0; m < matrices; m++) {
        const float count = (float)lroundf(float_at(counts, m));
        for (uint64_t i = m * width; i < (m + 1) * width; i++)
            sums[i] = count > 0 ? sums[i] / count : 1;
    }
}

static const struct by_stored_tensor *find_counts(const struct by_checkpoint *file,
                                                  const char *name, char quoted[BY_QUOTE_MAX],
                                                  struct baryon_error *err)
{
    char counts[BY_GGUF_NAME_MAX + sizeof COUNTS];
    snprintf(counts, sizeof counts, "%s" COUNTS, name);
    const struct by_stored_tensor *found = by_checkpoint_find(file, counts);
    if (!found)
        by_fail(err, BARYON_ERR_INPUT, "tensor %s is missing, its sums are there",
                by_quote(quoted, counts));
    return found;
}

static int check_sums(const struct by_stored_tensor *sums, const struct by_stored_tensor *counts,
                      const uint8_t *numbers, const char *quoted, struct baryon_error *err)
{
    if (sums->type->ggml != 0 || counts->type->ggml != 0)
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s: type %s, must be F32", quoted,
                       sums->type->ggml ? sums->type->name : counts->type->name);
    if (!counts->elements || !sums->elements || sums->elements % counts->elements)
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s: %" PRIu64 " sums and %" PRIu64
                       " counts, must have as many sums for each count",
                       quoted, sums->elements, counts->elements);
    for (uint64_t i = 0; i < counts->elements; i++) {
        const double count = (double)float_at(numbers, i);
        if (!(count >= 0 && count < 0x1p31))
            return by_fail(err, BARYON_ERR_INPUT,
                           "tensor %s: count %" PRIu64 " is %g, must be 0 or more and below 2^31",
                           quoted, i, count);
    }
    return 0;
}

static int read_sums(struct by_llm_importance *importance, const struct by_checkpoint *file,
                     const struct by_stored_tensor *sums, struct baryon_error *err)
{
    const size_t length = strlen(sums->name) - strlen(SUMS);
    const char *name = by_arena_text(&importance->arena, sums->name, length, err);
    char quoted[BY_QUOTE_MAX];
    const struct by_stored_tensor *counts = name ? find_counts(file, name, quoted, err) : NULL;
    if (!counts)
        return -1;
    by_quote(quoted, name);
    const uint8_t *numbers = by_checkpoint_bytes(file, counts);
    if (check_sums(sums, counts, numbers, quoted, err))
        return -1;
    float *values = by_arena_alloc(&importance->arena, sums->elements, sizeof *values, err);
    if (!values)
        return -1;
    memcpy(values, by_checkpoint_bytes(file, sums), sums->elements * sizeof *values);
    divide_sums(values, numbers, counts->elements, sums->elements / counts->elements);
    return add_weighting(importance, name, values, sums->elements, err);
}

static int read_notes(struct by_llm_importance *importance, const struct by_gguf *gguf,
                      struct baryon_error *err)
{
    static const char *const keys[] = {"imatrix.datasets", "imatrix.chunk_count",
                                       "imatrix.chunk_size"};
    const struct by_gguf_value *datasets = by_gguf_get(gguf, keys[0]);
    struct by_gguf_walk walk;
    struct by_gguf_value first;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!by_gguf_get(gguf, keys[i]))
            return by_fail(err, BARYON_ERR_INPUT,
                           "has no metadata %s, must have it as a file of llama-imatrix", keys[i]);
    by_gguf_uint(gguf, keys[1], &importance->chunks);
    if (datasets->type != BY_GGUF_ARRAY || datasets->array.type != BY_GGUF_STRING)
        return 0;
    by_gguf_walk(&walk, datasets);
    if (!by_gguf_next(&walk, &first))
        return 0;
    importance->dataset = by_arena_text(&importance->arena, first.text.text, first.text.size, err);
    return importance->dataset ? 0 : -1;
}

static int check_partner(const struct by_checkpoint *file, const struct by_stored_tensor *counts,
                         struct baryon_error *err)
{
    char sums[BY_GGUF_NAME_MAX + sizeof SUMS], quoted[BY_QUOTE_MAX];
    snprintf(sums, sizeof sums, "%.*s" SUMS, (int)(strlen(counts->name) - strlen(COUNTS)),
             counts->name);
    return by_checkpoint_find(file, sums)
               ? 0
               : by_fail(err, BARYON_ERR_INPUT, "tensor %s is missing, its counts are there",
                         by_quote(quoted, sums));
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length > tail && !strcmp(name + length - tail, end);
}

static int read_gguf(struct by_llm_importance *importance, const char *path,
                     struct baryon_error *err)
{
    struct by_checkpoint *file;
    if (by_checkpoint_open(&file, path, err))
        return -1;
    importance->at =
        by_arena_alloc(&importance->arena, file->tensor_count + 1, sizeof *importance->at, err);
    int status = importance->at ? read_notes(importance, file->gguf, err) : -1;
    for (size_t i = 0; !status && i < file->tensor_count; i++) {
        const struct by_stored_tensor *tensor = &file->tensors[i];
        if (ends_with(tensor->name, SUMS))
            status = read_sums(importance, file, tensor, err);
        else if (ends_with(tensor->name, COUNTS))
            status = check_partner(file, tensor, err);
    }
    if (!status)
        status = by_checkpoint_check(file, err);
    by_checkpoint_close(file);
    return status;
}

/* --- The older form --- */

struct reader {
    const uint8_t *at;
    size_t left;
};

static int take(struct reader *reader, void *to, size_t size, const char *what,
                struct baryon_error *err)
{
    if (size > reader->left)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%s requires %zu bytes, but only %zu are left; the file is truncated, or no "
                       "importance matrix",
                       what, size, reader->left);
    memcpy(to, reader->at, size);
    reader->at += size;
    reader->left -= size;
    return 0;
}

/* A number, then as many bytes of text. */
static int take_text(struct by_llm_importance *importance, struct reader *reader, const char *what,
                     const char **text, struct baryon_error *err)
{
    char bytes[TEXT_MAX];
    int32_t length;
    if (take(reader, &length, sizeof length, what, err))
        return -1;
    if (length < 0 || length > TEXT_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "%s has %" PRIi32 " bytes, must have 0 to %d", what,
                       length, TEXT_MAX);
    if (take(reader, bytes, (size_t)length, what, err))
        return -1;
    *text = by_arena_text(&importance->arena, bytes, (size_t)length, err);
    return *text ? 0 : -1;
}

/* Means times the number of calls. */
static int read_entry(struct by_llm_importance *importance, struct reader *reader,
                      struct baryon_error *err)
{
    const char *name;
    int32_t calls, count;
    char quoted[BY_QUOTE_MAX];
    if (take_text(importance, reader, "the name of a tensor", &name, err) ||
        take(reader, &calls, sizeof calls, "the number of calls", err) ||
        take(reader, &count, sizeof count, "the number of values", err))
        return -1;
    by_quote(quoted, name);
    if (count < 1 || (size_t)count > reader->left / sizeof(float))
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s: %" PRIi32 " values, must be 1 to %zu, for which there are bytes",
                       quoted, count, reader->left / sizeof(float));
    float *values = by_arena_alloc(&importance->arena, (size_t)count, sizeof *values, err);
    if (!values || take(reader, values, (size_t)count * sizeof *values, "values", err))
        return -1;
    for (int32_t i = 0; calls > 0 && i < count; i++)
        values[i] /= (float)calls;
    return add_weighting(importance, name, values, (uint64_t)count, err);
}

static int read_list(struct by_llm_importance *importance, const struct by_mapped *file,
                     struct baryon_error *err)
{
    struct reader reader = {file->bytes, file->size};
    int32_t entries, chunks;
    if (take(&reader, &entries, sizeof entries, "the number of entries", err))
        return -1;
    if (entries < 1 || (size_t)entries > file->size / (4 * sizeof entries))
        return by_fail(err, BARYON_ERR_INPUT,
                       "%" PRIi32 " entries in %zu bytes; the file is no importance matrix",
                       entries, file->size);
    importance->at =
        by_arena_alloc(&importance->arena, (size_t)entries, sizeof *importance->at, err);
    if (!importance->at)
        return -1;
    for (int32_t i = 0; i < entries; i++)
        if (read_entry(importance, &reader, err))
            return by_err_in(err, "entry %" PRIi32, i);
    if (!reader.left) /* the oldest files end here */
        return 0;
    if (take(&reader, &chunks, sizeof chunks, "the number of chunks", err))
        return -1;
    importance->chunks = chunks > 0 ? (uint64_t)chunks : 0;
    return reader.left
               ? take_text(importance, &reader, "the name of the texts", &importance->dataset, err)
               : 0;
}

/* --- All --- */

static int read_file(struct by_llm_importance *importance, const char *path,
                     struct baryon_error *err)
{
    struct by_mapped file;
    if (by_mapped_open(&file, path, err))
        return -1;
    importance->content = by_hash128(file.bytes, file.size);
    const bool is_gguf = file.size >= 4 && !memcmp(file.bytes, "GGUF", 4);
    int status = is_gguf ? read_gguf(importance, path, err) : read_list(importance, &file, err);
    if (!status)
        status = by_mapped_check(&file, err);
    by_mapped_close(&file);
    if (!status && !importance->count)
        status = by_fail(err, BARYON_ERR_INPUT, "has no entry, must have one for each matrix");
    return status;
}

int by_llm_importance_open(struct by_llm_importance **importance, const char *path,
                           struct baryon_error *err)
{
    struct by_llm_importance *fresh = by_alloc_zero(1, sizeof *fresh, err);
    if (!fresh)
        return -1;
    by_arena_init(&fresh->arena, 0);
    by_map_init(&fresh->by_name);
    fresh->path = path;
    if (read_file(fresh, path, err)) {
        by_llm_importance_close(fresh);
        return by_err_file(err, path);
    }
    *importance = fresh;
    return 0;
}

struct by_llm_weighting *by_llm_importance_find(const struct by_llm_importance *importance,
                                                const char *name)
{
    return by_map_get(&importance->by_name, name);
}

void by_llm_importance_close(struct by_llm_importance *importance)
{
    if (!importance)
        return;
    by_map_release(&importance->by_name);
    by_arena_release(&importance->arena);
    by_free(importance);
}
