/* Reads and writes the varints and tags of the protobuf wire format. */
#include "onnx/wire.h"

size_t by_varint_read(const uint8_t *bytes, size_t size, uint64_t *value)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < size && i < 10; i++) {
        uint64_t seven = bytes[i] & 0x7f;
        if (i == 9 && seven > 1)
            return 0;
        sum |= seven << (7 * i);
        if (!(bytes[i] & 0x80)) {
            *value = sum;
            return i + 1;
        }
    }
    return 0;
}

size_t by_varint_write(uint8_t out[10], uint64_t value)
{
    size_t size = 0;
    while (value >= 0x80) {
        out[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    out[size++] = (uint8_t)value;
    return size;
}

size_t by_varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

static int not_a_model(struct baryon_error *err)
{
    return by_err_hint(err, "the file is damaged, or not an ONNX model");
}

static int bad_varint(const uint8_t *at, const uint8_t *end, struct baryon_error *err)
{
    size_t size = 0;
    while (size < 10 && at + size < end && (at[size] & 0x80))
        size++;
    if (size < 10 && at + size == end) {
        by_fail(err, BARYON_ERR_INPUT, "the bytes end within a number");
        return by_err_hint(err, "the file is damaged or truncated: download or export it again");
    }
    if (size == 10)
        by_fail(err, BARYON_ERR_INPUT, "a number of more than 10 bytes, the limit");
    else
        by_fail(err, BARYON_ERR_INPUT, "a number of more than 64 bits, the limit");
    return not_a_model(err);
}

static int read_number(const uint8_t **at, const uint8_t *end, uint64_t *value,
                       struct baryon_error *err)
{
    size_t used = by_varint_read(*at, (size_t)(end - *at), value);
    if (!used)
        return bad_varint(*at, end, err);
    *at += used;
    return 0;
}

static int cut_short(uint64_t need, size_t left, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "requires %llu bytes, but only %zu are left",
            (unsigned long long)need, left);
    return by_err_hint(err, "the file is damaged or truncated: download or export it again");
}

static int read_content(const uint8_t **at, const uint8_t *end, struct by_wire_field *field,
                        struct baryon_error *err)
{
    uint64_t need = 0;
    field->content = *at;
    switch (field->type) {
    case BY_WIRE_VARINT:
        return read_number(at, end, &field->value, err);
    case BY_WIRE_64:
        need = 8;
        break;
    case BY_WIRE_32:
        need = 4;
        break;
    case BY_WIRE_BYTES:
        if (read_number(at, end, &need, err))
            return -1;
        field->content = *at;
        break;
    default:
        by_fail(err, BARYON_ERR_INPUT, "wire type %d in field number %u, must be 0, 1, 2 or 5",
                (int)field->type, field->number);
        return not_a_model(err);
    }
    size_t left = (size_t)(end - *at);
    if (need > left)
        return cut_short(need, left, err);
    *at += need;
    return 0;
}

int by_wire_next(const uint8_t **at, const uint8_t *end, struct by_wire_field *field,
                 struct baryon_error *err)
{
    uint64_t tag = 0;
    field->start = *at;
    field->number = 0;
    if (read_number(at, end, &tag, err))
        return -1;
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) {
        by_fail(err, BARYON_ERR_INPUT, "field number %llu, must be 1 to 536870911",
                (unsigned long long)(tag >> 3));
        return not_a_model(err);
    }
    field->number = (uint32_t)(tag >> 3);
    field->type = (enum by_wire_type)(tag & 7);
    if (read_content(at, end, field, err))
        return -1;
    field->end = *at;
    return 0;
}

const struct by_field *by_schema_field(const struct by_schema *schema, uint32_t number)
{
    for (size_t i = 0; i < schema->count && schema->fields[i].number <= number; i++)
        if (schema->fields[i].number == number)
            return &schema->fields[i];
    return NULL;
}
