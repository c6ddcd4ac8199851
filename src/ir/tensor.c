/* Checks, reads and creates the payloads of tensors. */
#include "ir/tensor.h"

#include <stdio.h>
#include <string.h>

#define SPILL_MIN  (1u << 20)
#define SHARED_MIN (64u << 10)

bool by_tensor_is_external(const struct baryon_tensor *tensor)
{
    return tensor->data_location == 1;
}

bool by_tensor_is_row(const struct baryon_tensor *tensor, size_t channels)
{
    const struct by_ints *dims = &tensor->dims;
    if (!dims->count || (size_t)dims->at[dims->count - 1] != channels)
        return false;
    for (size_t i = 0; i + 1 < dims->count; i++)
        if (dims->at[i] != 1)
            return false;
    return true;
}

int by_tensor_count(const struct baryon_tensor *tensor, size_t *count, struct baryon_error *err)
{
    if (by_dims_count(tensor->dims.at, tensor->dims.count, count, err))
        return by_err_in(err, "dims");
    return 0;
}

int by_err_tensor(struct baryon_error *err, const struct baryon_tensor *tensor)
{
    char prefix[BY_QUOTE_MAX + 16], quoted[BY_QUOTE_MAX];
    if (!err || !tensor->name || !*tensor->name)
        return -1;
    snprintf(prefix, sizeof prefix, "tensor %s: ", by_quote(quoted, tensor->name));
    size_t length = strlen(prefix);
    size_t kept = strnlen(err->message, sizeof err->message - 1 - length);
    memmove(err->message + length, err->message, kept);
    memcpy(err->message, prefix, length);
    err->message[length + kept] = '\0';
    return -1;
}

struct typed_payload {
    const char *name;
    struct by_span span;
    enum by_typed_field field;
};

#define TYPED_FIELDS 5

static void typed_payloads(const struct baryon_tensor *tensor,
                           struct typed_payload out[TYPED_FIELDS])
{
    out[0] = (struct typed_payload){"float_data", tensor->float_data, BY_TYPED_FLOAT};
    out[1] = (struct typed_payload){"int32_data", tensor->int32_data, BY_TYPED_INT32};
    out[2] = (struct typed_payload){"int64_data", tensor->int64_data, BY_TYPED_INT64};
    out[3] = (struct typed_payload){"double_data", tensor->double_data, BY_TYPED_DOUBLE};
    out[4] = (struct typed_payload){"uint64_data", tensor->uint64_data, BY_TYPED_UINT64};
}

static const char *typed_name(enum by_typed_field field)
{
    static const char *const names[] = {"raw_data",    "float_data",  "int32_data", "int64_data",
                                        "double_data", "uint64_data", "string_data"};
    return names[field];
}

static size_t typed_entries(const struct typed_payload *payload)
{
    if (payload->field == BY_TYPED_FLOAT)
        return payload->span.size / 4;
    if (payload->field == BY_TYPED_DOUBLE)
        return payload->span.size / 8;
    size_t count = 0;
    for (size_t i = 0; i < payload->span.size; i++)
        count += !(payload->span.data[i] & 0x80);
    return count;
}

/* Entries of the typed field that `count` elements take. */
static size_t wanted_entries(const struct by_elem_info *info, int64_t elem, size_t count)
{
    if (elem == BY_ELEM_COMPLEX64 || elem == BY_ELEM_COMPLEX128)
        return count * 2;
    if (info->typed == BY_TYPED_INT32)
        return count / info->per_int32 + (count % info->per_int32 != 0);
    return count;
}

static int wrong_field(const struct by_elem_info *info, const char *found, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "%s is given, elements of type %s must be in %s", found,
            info->name, typed_name(info->typed));
    return by_err_in(err, "%s", found);
}

static int wrong_count(const char *field, size_t found, size_t wanted, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "%zu elements, must be %zu for the dims", found, wanted);
    return by_err_in(err, "%s", field);
}

static int check_strings(const struct baryon_tensor *tensor, size_t count, struct baryon_error *err)
{
    if (tensor->raw_data.size || by_tensor_is_external(tensor))
        return by_fail(err, BARYON_ERR_INPUT, "strings are in %s, must be in string_data",
                       by_tensor_is_external(tensor) ? "external data" : "raw_data");
    if (tensor->string_data.count != count)
        return wrong_count("string_data", tensor->string_data.count, count, err);
    return 0;
}

static int check_raw(const struct baryon_tensor *tensor, size_t count, struct baryon_error *err)
{
    size_t bytes;
    if (by_elem_bytes(tensor->data_type, count, &bytes, err))
        return -1;
    if (tensor->raw_data.size == bytes)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%zu bytes, the dims and type %s require %zu",
            tensor->raw_data.size, by_elem_name(tensor->data_type), bytes);
    return by_err_in(err, "raw_data");
}

/* How many payloads there are, and the typed one. */
static int find_payload(const struct baryon_tensor *tensor, const struct by_elem_info *info,
                        struct typed_payload *found, struct baryon_error *err)
{
    struct typed_payload typed[TYPED_FIELDS];
    const char *first = NULL;
    typed_payloads(tensor, typed);
    *found = (struct typed_payload){0};
    if (by_tensor_is_external(tensor))
        first = "external data";
    if (tensor->raw_data.data && (tensor->raw_data.size || !first)) {
        if (first)
            return by_fail(err, BARYON_ERR_INPUT, "both %s and raw_data are given, must be one",
                           first);
        first = "raw_data";
    }
    for (size_t i = 0; i < TYPED_FIELDS; i++) {
        if (!typed[i].span.size)
            continue;
        if (first)
            return by_fail(err, BARYON_ERR_INPUT, "both %s and %s are given, must be one", first,
                           typed[i].name);
        if (typed[i].field != info->typed)
            return wrong_field(info, typed[i].name, err);
        first = typed[i].name;
        *found = typed[i];
    }
    if (tensor->string_data.count && info->typed != BY_TYPED_STRING)
        return wrong_field(info, "string_data", err);
    return 0;
}

int by_tensor_check(const struct baryon_tensor *tensor, struct baryon_error *err)
{
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    size_t count;
    if (!info) {
        if (tensor->data_type == BY_ELEM_UNDEFINED)
            by_fail(err, BARYON_ERR_INPUT, "no element type, must be given");
        else
            by_fail(err, BARYON_ERR_UNSUPPORTED, "element type %lld, must be 1 to %d",
                    (long long)tensor->data_type, BY_ELEM_COUNT - 1);
        return by_err_in(err, "data_type");
    }
    struct typed_payload typed;
    if (by_tensor_count(tensor, &count, err) || find_payload(tensor, info, &typed, err))
        return -1;
    if (!info->bits)
        return check_strings(tensor, count, err);
    if (by_tensor_is_external(tensor))
        return 0;
    if (tensor->raw_data.data)
        return check_raw(tensor, count, err);
    size_t wanted = wanted_entries(info, tensor->data_type, count);
    size_t entries = typed.name ? typed_entries(&typed) : 0;
    if (entries != wanted)
        return wrong_count(typed_name(info->typed), entries, wanted, err);
    return 0;
}

/* One varint of a run, which the decoder has seen to be well formed. */
static uint64_t next_varint(const uint8_t **at)
{
    uint64_t sum = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = *(*at)++;
        sum |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return sum;
    }
}

/* Varints to little-endian elements of width bytes (what the low bytes say). */
static void unpack_varints(struct by_span span, size_t width, uint8_t *out)
{
    const uint8_t *end = span.data + span.size;
    for (const uint8_t *at = span.data; at < end; out += width) {
        uint64_t value = next_varint(&at);
        memcpy(out, &value, width);
    }
}

/* 6-bit elements, one an entry, to the 24-bit groups of raw_data. */
static void pack_sixes(struct by_span span, uint8_t *out)
{
    size_t bit = 0;
    const uint8_t *end = span.data + span.size;
    for (const uint8_t *at = span.data; at < end; bit += 6) {
        unsigned value = (unsigned)next_varint(&at) & 0x3f;
        out[bit / 8] |= (uint8_t)(value << bit % 8);
        if (bit % 8 > 2)
            out[bit / 8 + 1] |= (uint8_t)(value >> (8 - bit % 8));
    }
}

static int unpack_typed(const struct baryon_tensor *tensor, const struct by_elem_info *info,
                        const struct typed_payload *typed, size_t count, struct by_arena *arena,
                        struct by_span *bytes, struct baryon_error *err)
{
    size_t size;
    if (by_elem_bytes(tensor->data_type, count, &size, err))
        return -1;
    if (!size || info->typed == BY_TYPED_FLOAT || info->typed == BY_TYPED_DOUBLE) {
        *bytes = (struct by_span){size ? typed->span.data : (const uint8_t *)"", size};
        return 0;
    }
    uint8_t *out = by_arena_alloc(arena, size, 1, err);
    if (!out)
        return -1;
    if (info->bits == 6)
        pack_sixes(typed->span, out);
    else
        unpack_varints(typed->span, info->bits < 8 ? 1 : info->bits / 8, out);
    *bytes = (struct by_span){out, size};
    return 0;
}

int by_tensor_bytes(const struct baryon_tensor *tensor, struct by_arena *arena,
                    struct by_span *bytes, struct baryon_error *err)
{
    size_t count;
    if (by_tensor_check(tensor, err) || by_tensor_count(tensor, &count, err))
        return -1;
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    if (!info->bits)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "a tensor of strings, must be numeric");
    if (by_tensor_is_external(tensor)) {
        if (!tensor->external.data)
            return by_fail(err, BARYON_ERR_INPUT, "its external data is not loaded");
        *bytes = tensor->external;
        return 0;
    }
    if (tensor->raw_data.data) {
        *bytes = tensor->raw_data;
        return 0;
    }
    struct typed_payload typed;
    if (find_payload(tensor, info, &typed, err))
        return -1;
    return unpack_typed(tensor, info, &typed, count, arena, bytes, err);
}

int by_tensor_ints(const struct baryon_tensor *tensor, struct by_arena *arena, size_t most,
                   int64_t **out, size_t *count, struct baryon_error *err)
{
    struct by_span bytes;
    if (by_tensor_count(tensor, count, err))
        return -1;
    if (*count > most)
        return by_fail(err, BARYON_ERR_INPUT, "%zu elements, must be at most %zu", *count, most);
    if (by_tensor_bytes(tensor, arena, &bytes, err))
        return -1;
    *out = by_arena_alloc(arena, *count, sizeof **out, err);
    return *out ? by_elem_to_ints(tensor->data_type, bytes.data, 0, *count, *out, err) : -1;
}

int by_tensor_number(const struct baryon_tensor *tensor, bool *is_one, double *number,
                     struct baryon_error *err)
{
    struct by_arena arena;
    struct by_span bytes;
    size_t count;
    *is_one = tensor && by_tensor_count(tensor, &count, NULL) == 0 && count == 1;
    if (!*is_one)
        return 0;
    by_arena_init(&arena, 0);
    int status = by_tensor_bytes(tensor, &arena, &bytes, err);
    if (status == 0)
        status = by_elem_to_doubles(tensor->data_type, bytes.data, 0, 1, number, err);
    by_arena_release(&arena);
    return status;
}

int by_model_spill(struct baryon_model *model, const char *folder, size_t room,
                   struct baryon_error *err)
{
    by_spill_close(&model->spill);
    return by_spill_open(&model->spill, folder, room, err);
}

/* Zeros in the spill, or in the arena. */
static uint8_t *room_for(struct baryon_model *model, size_t size, struct baryon_error *err)
{
    uint8_t *bytes = NULL;
    if (size >= SPILL_MIN && by_spill_add(&model->spill, size, &bytes, err))
        return NULL;
    return bytes ? bytes : by_arena_alloc(&model->arena, size, 1, err);
}

/* The model's part in the one copy. */
static int share(struct baryon_model *model, const void *bytes, size_t size,
                 struct by_span *payload, struct baryon_error *err)
{
    struct by_constants *list = &model->constants;
    if (by_list_reserve(&model->arena, list, 1, sizeof(struct by_constant *), err) ||
        by_constant_take(&list->at[list->count], bytes, size, err))
        return -1;
    *payload = (struct by_span){by_constant_bytes(list->at[list->count++]), size};
    return 0;
}

int by_model_payload(struct baryon_model *model, const void *bytes, size_t size,
                     struct by_span *payload, struct baryon_error *err)
{
    const bool spills = size >= SPILL_MIN && model->spill.room;
    if (size >= SHARED_MIN && !spills)
        return share(model, bytes, size, payload, err);
    uint8_t *copy = room_for(model, size, err);
    if (!copy)
        return -1;
    if (size)
        memcpy(copy, bytes, size);
    *payload = (struct by_span){copy, size};
    return 0;
}

static int check_bytes(int64_t elem, const int64_t *dims, size_t rank, size_t size, bool given,
                       size_t *wanted, struct baryon_error *err)
{
    size_t count;
    if (by_dims_count(dims, rank, &count, err) || by_elem_bytes(elem, count, wanted, err))
        return -1;
    if (!given || size == *wanted)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "%zu bytes given, the dims and type %s require %zu", size,
                   by_elem_name(elem), *wanted);
}

struct baryon_tensor *by_tensor_over(struct baryon_model *model, const char *name, int64_t elem,
                                     const int64_t *dims, size_t rank, struct by_span bytes,
                                     struct baryon_error *err)
{
    size_t wanted;
    if (check_bytes(elem, dims, rank, bytes.size, true, &wanted, err))
        return NULL;
    struct baryon_tensor *tensor = BY_ARENA_NEW(&model->arena, struct baryon_tensor, err);
    if (!tensor || by_list_reserve(&model->arena, &tensor->dims, rank, sizeof *dims, err) ||
        !(tensor->name = by_model_name(model, name, err)))
        return NULL;
    if (rank)
        memcpy(tensor->dims.at, dims, rank * sizeof *dims);
    tensor->dims.count = rank;
    tensor->data_type = elem;
    tensor->raw_data = bytes;
    return tensor;
}

struct baryon_tensor *by_tensor_new(struct baryon_model *model, const char *name, int64_t elem,
                                    const int64_t *dims, size_t rank, const void *bytes,
                                    size_t size, struct baryon_error *err)
{
    size_t wanted;
    if (check_bytes(elem, dims, rank, size, bytes != NULL, &wanted, err))
        return NULL;
    uint8_t *copy = room_for(model, wanted, err);
    if (!copy)
        return NULL;
    if (bytes && wanted)
        memcpy(copy, bytes, wanted);
    return by_tensor_over(model, name, elem, dims, rank, (struct by_span){copy, wanted}, err);
}
