/* Reading .npy: a magic, a version, the text of a Python dictionary, the payload. */
#include "array/npy.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC      "\x93NUMPY"
#define MAGIC_SIZE 6

struct cursor {
    const uint8_t *start, *at, *end;
};

/* Bytes of the header. */
struct npy_text {
    const uint8_t *data;
    size_t size;
};

static int fail_here(const struct cursor *cursor, struct baryon_error *err)
{
    by_err_offset(err, (uint64_t)(cursor->at - cursor->start));
    return -1;
}

/* What stands at the cursor, up to 40 bytes of it, for messages. */
static const char *quote_here(const struct cursor *cursor, char quoted[BY_QUOTE_MAX])
{
    size_t left = (size_t)(cursor->end - cursor->at);
    return by_quote_bytes(quoted, cursor->at, left < 40 ? left : 40);
}

static void skip_blanks(struct cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t'))
        cursor->at++;
}

static bool take_npy_word(struct cursor *cursor, const char *word)
{
    skip_blanks(cursor);
    size_t size = strlen(word);
    if ((size_t)(cursor->end - cursor->at) < size || memcmp(cursor->at, word, size) != 0)
        return false;
    cursor->at += size;
    return true;
}

static int expect(struct cursor *cursor, const char *word, struct baryon_error *err)
{
    if (take_npy_word(cursor, word))
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "expected '%s' before %s", word, quote_here(cursor, quoted));
    return fail_here(cursor, err);
}

/* A text in single or double quotes without escapes, as NumPy writes them. */
static int take_text(struct cursor *cursor, struct npy_text *text, struct baryon_error *err)
{
    skip_blanks(cursor);
    const uint8_t *start = cursor->at;
    const uint8_t quote = start < cursor->end ? *start : 0;
    const uint8_t *end = NULL;
    if (quote == '\'' || quote == '"')
        end = memchr(start + 1, quote, (size_t)(cursor->end - start - 1));
    if (!end || memchr(start, '\\', (size_t)(end - start))) {
        char quoted[BY_QUOTE_MAX];
        by_fail(err, BARYON_ERR_INPUT, "expected a quoted text, not %s",
                quote_here(cursor, quoted));
        return fail_here(cursor, err);
    }
    *text = (struct npy_text){start + 1, (size_t)(end - start - 1)};
    cursor->at = end + 1;
    return 0;
}

struct dtype_row {
    const char *code;
    int elem;
};

static const struct dtype_row dtypes[] = {
    {"b1", BY_ELEM_BOOL},      {"i1", BY_ELEM_INT8},        {"i2", BY_ELEM_INT16},
    {"i4", BY_ELEM_INT32},     {"i8", BY_ELEM_INT64},       {"u1", BY_ELEM_UINT8},
    {"u2", BY_ELEM_UINT16},    {"u4", BY_ELEM_UINT32},      {"u8", BY_ELEM_UINT64},
    {"f2", BY_ELEM_FLOAT16},   {"f4", BY_ELEM_FLOAT},       {"f8", BY_ELEM_DOUBLE},
    {"c8", BY_ELEM_COMPLEX64}, {"c16", BY_ELEM_COMPLEX128},
};

struct refused_row {
    char kind;
    const char *what;
    const char *hint;
};

static const struct refused_row refused[] = {
    {'O', "contains Python objects (pickle), which are never loaded",
     "save an array of numbers, with numpy.save(..., allow_pickle=False)"},
    {'V', "is a record or raw bytes, must be numeric or bool",
     "save each field in a separate array, and bfloat16 as float32"},
    {'S', "is text, must be numeric or bool", ""},
    {'a', "is text, must be numeric or bool", ""},
    {'U', "is text, must be numeric or bool", ""},
    {'M', "is a date, must be numeric or bool", ""},
    {'m', "is a time span, must be numeric or bool", ""},
};

static int refuse_dtype(const struct npy_text *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_quote_bytes(quoted, text->data, text->size);
    const char *order = "<>|=";
    size_t skip = text->size && strchr(order, text->data[0]) && text->data[0] ? 1 : 0;
    const uint8_t kind = text->size > skip ? text->data[skip] : 0;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (kind == (uint8_t)refused[i].kind) {
            by_fail(err, BARYON_ERR_INPUT, "type %s %s", quoted, refused[i].what);
            return by_err_hint(err, "%s", refused[i].hint);
        }
    return by_fail(err, BARYON_ERR_INPUT,
                   "type %s, must be one of bool, int8 to int64, uint8 to uint64, float16 to "
                   "float64, complex64, complex128",
                   quoted);
}

static bool host_is_little(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 1;
}

static int find_dtype(const struct npy_text *text, struct by_npy_header *header,
                      struct baryon_error *err)
{
    const uint8_t order = text->size ? text->data[0] : 0;
    if (order != '<' && order != '>' && order != '|')
        return refuse_dtype(text, err);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        size_t size = strlen(dtypes[i].code);
        if (text->size != size + 1 || memcmp(text->data + 1, dtypes[i].code, size) != 0)
            continue;
        bool single = dtypes[i].code[1] == '1' && size == 2;
        if (order == '|' && !single)
            break;
        header->elem = dtypes[i].elem;
        header->swap = !single && (order == '<') != host_is_little();
        return 0;
    }
    return refuse_dtype(text, err);
}

static int take_dtype(struct cursor *cursor, struct by_npy_header *header, struct baryon_error *err)
{
    skip_blanks(cursor);
    struct cursor start = *cursor;
    struct npy_text text = {0};
    if (cursor->at < cursor->end && *cursor->at == '[') {
        by_fail(err, BARYON_ERR_INPUT,
                "the type is a record of several fields, must be numeric or bool");
        by_err_hint(err, "save each field in a separate array");
        return fail_here(&start, err);
    }
    if (take_text(cursor, &text, err) < 0)
        return -1;
    return find_dtype(&text, header, err) < 0 ? fail_here(&start, err) : 0;
}

static int take_order(struct cursor *cursor, struct by_npy_header *header, struct baryon_error *err)
{
    header->fortran = take_npy_word(cursor, "True");
    if (header->fortran || take_npy_word(cursor, "False"))
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "expected True or False, not %s", quote_here(cursor, quoted));
    return fail_here(cursor, err);
}

static int take_dim(struct cursor *cursor, int64_t *dim, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const uint8_t *start = cursor->at;
    *dim = 0;
    while (cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9') {
        if (__builtin_mul_overflow(*dim, 10, dim) ||
            __builtin_add_overflow(*dim, *cursor->at - '0', dim)) {
            cursor->at = start;
            by_fail(err, BARYON_ERR_INPUT, "a dimension is larger than 2^63 - 1: %s",
                    quote_here(cursor, quoted));
            return fail_here(cursor, err);
        }
        cursor->at++;
    }
    if (cursor->at != start)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "a dimension must be a whole number, 0 or more, not %s",
            quote_here(cursor, quoted));
    return fail_here(cursor, err);
}

/* (), (3,), (3, 4) or (3, 4,); a single number needs its comma, as in Python. */
static int take_shape(struct cursor *cursor, struct by_npy_header *header, struct baryon_error *err)
{
    bool comma = true;
    if (expect(cursor, "(", err) < 0)
        return -1;
    while (!take_npy_word(cursor, ")")) {
        if (header->rank == sizeof header->dims / sizeof *header->dims) {
            by_fail(err, BARYON_ERR_INPUT, "more than 16 dimensions");
            return fail_here(cursor, err);
        }
        if (!comma)
            return expect(cursor, ",", err);
        if (take_dim(cursor, &header->dims[header->rank], err) < 0)
            return -1;
        header->rank++;
        comma = take_npy_word(cursor, ",");
    }
    if (header->rank == 1 && !comma) {
        cursor->at--;
        return expect(cursor, ",", err);
    }
    return 0;
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

struct key_row {
    const char *name;
    unsigned bit;
    int (*take)(struct cursor *cursor, struct by_npy_header *header, struct baryon_error *err);
};

static const struct key_row keys[] = {
    {"descr", KEY_DESCR, take_dtype},
    {"fortran_order", KEY_ORDER, take_order},
    {"shape", KEY_SHAPE, take_shape},
};

static int take_pair(struct cursor *cursor, unsigned *seen, struct by_npy_header *header,
                     struct baryon_error *err)
{
    skip_blanks(cursor);
    struct cursor start = *cursor;
    struct npy_text name = {0};
    if (take_text(cursor, &name, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (name.size != strlen(keys[i].name) || memcmp(name.data, keys[i].name, name.size) != 0)
            continue;
        if (*seen & keys[i].bit) {
            by_fail(err, BARYON_ERR_INPUT, "key '%s' appears twice", keys[i].name);
            return fail_here(&start, err);
        }
        *seen |= keys[i].bit;
        if (expect(cursor, ":", err) < 0 || keys[i].take(cursor, header, err) < 0)
            return by_err_in(err, "header.%s", keys[i].name);
        return 0;
    }
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "unknown key %s, must be descr, fortran_order or shape",
            by_quote_bytes(quoted, name.data, name.size));
    return fail_here(&start, err);
}

static int take_end(struct cursor *cursor, struct baryon_error *err)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\n'))
        cursor->at++;
    if (cursor->at == cursor->end)
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "%s after the header", quote_here(cursor, quoted));
    return fail_here(cursor, err);
}

static int parse_dictionary(struct cursor *cursor, struct by_npy_header *header,
                            struct baryon_error *err)
{
    unsigned seen = 0;
    if (expect(cursor, "{", err) < 0)
        return -1;
    while (!take_npy_word(cursor, "}")) {
        if (take_pair(cursor, &seen, header, err) < 0)
            return -1;
        if (!take_npy_word(cursor, ",")) {
            if (expect(cursor, "}", err) < 0)
                return -1;
            break;
        }
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!(seen & keys[i].bit)) {
            by_fail(err, BARYON_ERR_INPUT, "key '%s' is missing", keys[i].name);
            return by_err_offset(err, MAGIC_SIZE + 2);
        }
    return take_end(cursor, err);
}

bool by_npy_sniff(const uint8_t *bytes, size_t size)
{
    return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

static int fail_at(struct baryon_error *err, uint64_t offset)
{
    return by_err_offset(err, offset);
}

/* Start and length of the dictionary, from magic, version and length field. */
static int parse_preamble(const uint8_t *bytes, size_t size, size_t *start, size_t *length,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!by_npy_sniff(bytes, size)) {
        by_fail(err, BARYON_ERR_INPUT,
                "not a .npy file: it begins with %s, must begin with '\\x93NUMPY'",
                by_quote_bytes(quoted, bytes, size < MAGIC_SIZE ? size : MAGIC_SIZE));
        return fail_at(err, 0);
    }
    if (size < MAGIC_SIZE + 4) {
        by_fail(err, BARYON_ERR_INPUT, "the file ends in its first 10 bytes (%zu bytes)", size);
        return fail_at(err, size);
    }
    const unsigned major = bytes[MAGIC_SIZE], minor = bytes[MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0) {
        by_fail(err, BARYON_ERR_INPUT, "version %u.%u of the format, must be 1.0, 2.0 or 3.0",
                major, minor);
        return fail_at(err, MAGIC_SIZE);
    }
    const size_t wide = major == 1 ? 2 : 4;
    *start = MAGIC_SIZE + 2 + wide;
    if (size < *start) {
        by_fail(err, BARYON_ERR_INPUT, "the file ends in its first 12 bytes (%zu bytes)", size);
        return fail_at(err, size);
    }
    *length = 0;
    for (size_t i = 0; i < wide; i++)
        *length |= (size_t)bytes[MAGIC_SIZE + 2 + i] << (8 * i);
    return 0;
}

int by_npy_header_parse(const uint8_t *bytes, size_t size, struct by_npy_header *header,
                        struct baryon_error *err)
{
    size_t start = 0, length = 0;
    *header = (struct by_npy_header){0};
    if (parse_preamble(bytes, size, &start, &length, err) < 0)
        return -1;
    if (length > BY_NPY_HEADER_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "the header has %zu bytes, must have at most %d", length,
                BY_NPY_HEADER_MAX);
        return fail_at(err, MAGIC_SIZE + 2);
    }
    if (length > size - start) {
        by_fail(err, BARYON_ERR_INPUT, "the header has %zu bytes, but %zu are left", length,
                size - start);
        return fail_at(err, MAGIC_SIZE + 2);
    }
    struct cursor cursor = {bytes, bytes + start, bytes + start + length};
    if (parse_dictionary(&cursor, header, err) < 0)
        return -1;
    header->data = start + length;
    if (by_dims_count(header->dims, header->rank, &header->count, err) < 0 ||
        by_elem_bytes(header->elem, header->count, &header->bytes, err) < 0) {
        if (err && err->code != BARYON_ERR_NOMEM)
            err->code = BARYON_ERR_INPUT;
        by_err_in(err, "header.shape");
        return fail_at(err, start);
    }
    return 0;
}

int by_npy_parse(const uint8_t *bytes, size_t size, struct by_npy_header *header,
                 struct baryon_error *err)
{
    if (by_npy_header_parse(bytes, size, header, err) < 0)
        return -1;
    size_t left = size - header->data;
    if (left == header->bytes)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "%zu bytes after the header, but shape and type (%zu x %s) require %zu", left,
            header->count, by_elem_name(header->elem), header->bytes);
    return fail_at(err, header->data);
}
