/* Resolves the external data of tensors and checks their files and ranges. */
#include "onnx/external.h"

#include "base/sha1.h"

#include <stdlib.h>
#include <string.h>

/* Ranges of a file together: this much in any case, or so many times its size. */
#define SHARED_FREE ((uint64_t)64 << 20)
#define SHARED_MAX  64u

static int bad_key(const char *key, const char *what, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "key %s %s", by_quote(quoted, key ? key : ""), what);
    return by_err_in(err, "external_data");
}

/* Digits only: no sign, no blanks, at most 2^63 - 1. */
static int parse_number(const struct by_pair *pair, uint64_t *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    uint64_t sum = 0;
    bool ok = pair->value.size > 0;
    for (size_t i = 0; i < pair->value.size && ok; i++) {
        unsigned digit = (unsigned)pair->value.data[i] - '0';
        ok = digit < 10 && !__builtin_mul_overflow(sum, 10, &sum) &&
             !__builtin_add_overflow(sum, digit, &sum) && sum <= INT64_MAX;
    }
    *value = sum;
    if (ok)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s is %s, must be a number from 0 to 2^63-1", pair->key,
            by_quote_bytes(quoted, pair->value.data, pair->value.size));
    return by_err_in(err, "external_data");
}

static int parse_location(const struct by_pair *pair, struct by_arena *arena,
                          struct by_external_ref *ref, struct baryon_error *err)
{
    static const char marker[] = "*/_ORT_MEM_ADDR_/*";
    if (pair->value.size == sizeof marker - 1 &&
        memcmp(pair->value.data, marker, sizeof marker - 1) == 0) {
        by_fail(err, BARYON_ERR_INPUT,
                "location is ONNX Runtime's marker for an address in memory, must be a file");
        by_err_hint(err, "the model was saved while a session was using it");
        return by_err_in(err, "external_data");
    }
    if (by_location_check((const char *)pair->value.data, pair->value.size, err))
        return by_err_in(err, "external_data");
    ref->location = by_arena_text(arena, pair->value.data, pair->value.size, err);
    return ref->location ? 0 : -1;
}

static int parse_pair(const struct by_pair *pair, struct by_arena *arena,
                      struct by_external_ref *ref, unsigned *seen, struct baryon_error *err)
{
    static const char *const keys[] = {"location", "offset", "length", "checksum"};
    unsigned which = 0;
    while (which < 4 && !(pair->key && strcmp(pair->key, keys[which]) == 0))
        which++;
    if (which == 4)
        return bad_key(pair->key, "must be one of location, offset, length, checksum", err);
    if (*seen >> which & 1)
        return bad_key(pair->key, "is given twice, must appear once", err);
    *seen |= 1u << which;
    if (which == 0)
        return parse_location(pair, arena, ref, err);
    if (which == 1)
        return parse_number(pair, &ref->offset, err);
    if (which == 2)
        return parse_number(pair, &ref->length, err);
    ref->checksum = by_arena_text(arena, pair->value.data, pair->value.size, err);
    return ref->checksum ? 0 : -1;
}

int by_external_parse(const struct baryon_tensor *tensor, struct by_arena *arena,
                      struct by_external_ref *ref, struct baryon_error *err)
{
    unsigned seen = 0;
    *ref = (struct by_external_ref){.length = UINT64_MAX};
    for (size_t i = 0; i < tensor->external_data.count; i++)
        if (tensor->external_data.at[i] &&
            parse_pair(tensor->external_data.at[i], arena, ref, &seen, err))
            return -1;
    if (ref->location)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "no location, external data requires one");
    return by_err_in(err, "external_data");
}

/* A tensor's range of a file, for finding overlaps. */
struct range {
    const struct baryon_tensor *tensor;
    const struct by_data_file *file;
    uint64_t begin, end;
};

struct resolver {
    struct baryon_model *model;
    const struct by_load_options *options;
    struct by_map files; /* location -> by_data_file */
    struct range *ranges;
    size_t count, cap;
};

/* Every tensor of a file may name its checksum. */
static const char *digest_of(struct by_data_file *file)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[20];
    if (file->sha1[0])
        return file->sha1;
    by_sha1(file->mapped.bytes, file->mapped.size, digest);
    for (size_t i = 0; i < 20; i++) {
        file->sha1[2 * i] = digits[digest[i] >> 4];
        file->sha1[2 * i + 1] = digits[digest[i] & 15];
    }
    return file->sha1;
}

static int check_digest(struct by_data_file *file, const char *wanted, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX], quoted[BY_QUOTE_MAX];
    const char *digest = digest_of(file);
    if (strcmp(digest, wanted) == 0)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "data file %s has the SHA-1 checksum %s, the model states %s",
            by_quote(name, file->location), digest, by_quote(quoted, wanted));
    by_err_hint(err, "the data file is damaged or belongs to another model");
    return by_err_in(err, "external_data");
}

static struct by_data_file *open_file(struct resolver *resolver, const char *location,
                                      struct baryon_error *err)
{
    struct baryon_model *model = resolver->model;
    struct by_data_file *file = by_map_get(&resolver->files, location);
    char path[512];
    int fd;
    if (file)
        return file;
    if (!(file = BY_ARENA_NEW(&model->arena, struct by_data_file, err)) ||
        by_list_reserve(&model->arena, &model->data_files, 1, sizeof(void *), err))
        return NULL;
    file->location = location;
    if (by_open_contained(model->folder, location, resolver->options->allow_links, &fd, err)) {
        by_err_in(err, "external_data");
        return NULL;
    }
    by_join_path(path, sizeof path, model->folder, location);
    if (by_mapped_open_fd(&file->mapped, fd, path, err))
        return NULL;
    model->data_files.at[model->data_files.count++] = file;
    return by_map_put(&resolver->files, location, file, err) ? NULL : file;
}

static int add_range(struct resolver *resolver, const struct range *range, struct baryon_error *err)
{
    if (resolver->count == resolver->cap) {
        size_t cap = resolver->cap ? resolver->cap * 2 : 64;
        struct range *grown = by_realloc(resolver->ranges, cap, sizeof *grown, err);
        if (!grown)
            return -1;
        resolver->ranges = grown;
        resolver->cap = cap;
    }
    resolver->ranges[resolver->count++] = *range;
    return 0;
}

static int check_range(const struct by_external_ref *ref, const struct by_data_file *file,
                       size_t bytes, struct baryon_error *err)
{
    uint64_t size = file->mapped.size;
    char name[BY_QUOTE_MAX];
    if (ref->length != UINT64_MAX && ref->length != bytes) {
        by_fail(err, BARYON_ERR_INPUT, "length is %llu, must be %zu for the dims and type",
                (unsigned long long)ref->length, bytes);
        return by_err_in(err, "external_data");
    }
    if (ref->offset <= size && bytes <= size - ref->offset)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "data file %s has %llu bytes, offset %llu and length %zu are beyond its end",
            by_quote(name, ref->location), (unsigned long long)size,
            (unsigned long long)ref->offset, bytes);
    by_err_hint(err, "the data file is truncated or belongs to another model");
    return by_err_in(err, "external_data");
}

/* Whoever reads all weights must not read one range again and again without end. */
static int count_range(struct by_data_file *file, size_t bytes, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    file->asked += bytes;
    if (file->asked <= SHARED_FREE || file->asked / SHARED_MAX <= file->mapped.size)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "tensors so far use %llu bytes of data file %s of %zu, shared ranges must add up to at "
            "most %u times its size",
            (unsigned long long)file->asked, by_quote(name, file->location), file->mapped.size,
            SHARED_MAX);
    return by_err_in(err, "external_data");
}

static int resolve(struct resolver *resolver, struct baryon_tensor *tensor,
                   struct baryon_error *err)
{
    struct by_external_ref ref;
    size_t count, bytes;
    char name[BY_QUOTE_MAX];
    if (!by_tensor_is_external(tensor))
        return 0;
    if (by_external_parse(tensor, &resolver->model->arena, &ref, err) ||
        by_tensor_check(tensor, err) || by_tensor_count(tensor, &count, err) ||
        by_elem_bytes(tensor->data_type, count, &bytes, err))
        return -1;
    if (!resolver->model->folder) {
        by_fail(err, BARYON_ERR_INPUT,
                "data file %s is named, but the model was loaded from memory",
                by_quote(name, ref.location));
        return by_err_in(err, "external_data");
    }
    struct by_data_file *file = open_file(resolver, ref.location, err);
    if (!file || check_range(&ref, file, bytes, err) || count_range(file, bytes, err) ||
        (ref.checksum && check_digest(file, ref.checksum, err)))
        return -1;
    tensor->external = (struct by_span){file->mapped.bytes + ref.offset, bytes};
    const struct range range = {tensor, file, ref.offset, ref.offset + bytes};
    return bytes ? add_range(resolver, &range, err) : 0;
}

static int resolve_tensor(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    return resolve(context, tensor, err) ? by_err_tensor(err, tensor) : 0;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    if (x->file != y->file)
        return strcmp(x->file->location, y->file->location);
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Tensors may share a range, but not overlap in part. */
static int check_overlaps(struct resolver *resolver, struct baryon_error *err)
{
    char one[BY_QUOTE_MAX], two[BY_QUOTE_MAX], name[BY_QUOTE_MAX];
    if (resolver->count)
        qsort(resolver->ranges, resolver->count, sizeof *resolver->ranges, compare_ranges);
    for (size_t i = 1; i < resolver->count; i++) {
        const struct range *a = &resolver->ranges[i - 1], *b = &resolver->ranges[i];
        if (a->file != b->file || b->begin >= a->end || (a->begin == b->begin && a->end == b->end))
            continue;
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensors %s and %s overlap in data file %s (bytes %llu to %llu and %llu to "
                       "%llu), shared ranges must be equal",
                       by_quote(one, a->tensor->name ? a->tensor->name : ""),
                       by_quote(two, b->tensor->name ? b->tensor->name : ""),
                       by_quote(name, a->file->location), (unsigned long long)a->begin,
                       (unsigned long long)a->end, (unsigned long long)b->begin,
                       (unsigned long long)b->end);
    }
    return 0;
}

int by_model_resolve_external(struct baryon_model *model, const struct by_load_options *options,
                              struct baryon_error *err)
{
    struct resolver resolver = {.model = model, .options = options};
    if (options->no_external)
        return 0;
    by_map_init(&resolver.files);
    int failed = by_model_each_tensor(model, resolve_tensor, &resolver, err);
    if (!failed)
        failed = check_overlaps(&resolver, err);
    by_map_release(&resolver.files);
    by_free(resolver.ranges);
    return failed ? -1 : 0;
}

uint64_t by_model_data_size(const struct baryon_model *model)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < model->data_files.count; i++)
        bytes += ((const struct by_data_file *)model->data_files.at[i])->mapped.size;
    return bytes;
}

bool by_model_has_data_file(const struct baryon_model *model, const char *path)
{
    for (size_t i = 0; i < model->data_files.count; i++)
        if (by_mapped_is(&((const struct by_data_file *)model->data_files.at[i])->mapped, path))
            return true;
    return false;
}

struct payload_search {
    const void *bytes;
    bool found;
};

static int find_payload(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct payload_search *search = context;
    (void)err;
    search->found |= tensor->raw_data.data == search->bytes;
    return 0;
}

void by_model_payloads_done(struct baryon_model *model)
{
    struct by_constants *list = &model->constants;
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct payload_search search = {.bytes = by_constant_bytes(list->at[i])};
        const int status = by_model_each_tensor(model, find_payload, &search, NULL);
        if (status < 0 || search.found)
            list->at[kept++] = list->at[i];
        else
            by_constant_leave(list->at[i]);
    }
    list->count = kept;
}
