/* A vocabulary, and the pieces of SentencePiece's tokenizer.model. */
#include "llm/family/tokenizer.h"

#include <inttypes.h>
#include <string.h>

#define TOKENS_MAX (1u << 24)

int by_vocab_make(struct by_vocab *vocab, struct by_arena *arena, uint64_t count,
                  struct baryon_error *err)
{
    char name[32];
    struct by_str text = {0};
    if (count < 1 || count > TOKENS_MAX)
        return by_fail(err, BARYON_ERR_INPUT, "a vocabulary of %" PRIu64 ", must be 1 to %u", count,
                       TOKENS_MAX);
    size_t size = (size_t)count;
    *vocab = (struct by_vocab){
        .tokens = by_arena_alloc(arena, size, sizeof *vocab->tokens, err),
        .scores = by_arena_alloc(arena, size, sizeof *vocab->scores, err),
        .kinds = by_arena_alloc(arena, size, sizeof *vocab->kinds, err),
        .count = size,
    };
    if (!vocab->tokens || !vocab->scores || !vocab->kinds)
        return -1;
    for (size_t i = 0; i < size; i++) {
        by_str_clear(&text);
        by_str_printf(&text, "[PAD%zu]", i);
        if (text.failed || text.size >= sizeof name)
            break;
        char *copy = by_arena_text(arena, text.text, text.size, err);
        if (!copy) {
            by_str_release(&text);
            return -1;
        }
        vocab->tokens[i] = (struct by_meta_text){copy, text.size};
        vocab->scores[i] = -10000;
        vocab->kinds[i] = BY_TOKEN_UNUSED;
    }
    int status = by_str_error(&text, err);
    by_str_release(&text);
    return status;
}

/* Protobuf: a cursor over one message. src/onnx has a codec for whole files of known schemas;
 * four fields are read here, below it. */
struct proto {
    const uint8_t *at, *end, *file;
};

struct proto_field {
    uint32_t number;
    unsigned type;
    uint64_t value;       /* varint, fixed */
    const uint8_t *bytes; /* of a text or message */
    size_t size;
};

static int proto_fail(const struct proto *proto, const char *what, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_INPUT, "not a SentencePiece model: %s", what);
    return by_err_offset(err, (uint64_t)(proto->at - proto->file));
}

static bool proto_varint(struct proto *proto, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && proto->at < proto->end; shift += 7) {
        uint8_t byte = *proto->at++;
        if (shift == 63 && byte > 1)
            return false;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

static bool proto_fixed(struct proto *proto, size_t size, uint64_t *value)
{
    if ((size_t)(proto->end - proto->at) < size)
        return false;
    *value = 0;
    for (size_t i = 0; i < size; i++)
        *value |= (uint64_t)proto->at[i] << (8 * i);
    proto->at += size;
    return true;
}

/* 1: a field, 0: the end, -1: damaged. */
static int proto_next(struct proto *proto, struct proto_field *field, struct baryon_error *err)
{
    uint64_t key, size;
    bool fits = false;
    if (proto->at == proto->end)
        return 0;
    if (!proto_varint(proto, &key) || key >> 3 == 0 || key >> 3 > UINT32_MAX)
        return proto_fail(proto, "a damaged field number", err);
    *field = (struct proto_field){.number = (uint32_t)(key >> 3), .type = key & 7};
    switch (field->type) {
    case 0:
        fits = proto_varint(proto, &field->value);
        break;
    case 1:
        fits = proto_fixed(proto, 8, &field->value);
        break;
    case 2:
        fits = proto_varint(proto, &size) && size <= (uint64_t)(proto->end - proto->at);
        if (fits) {
            field->bytes = proto->at;
            field->size = (size_t)size;
            proto->at += size;
        }
        break;
    case 5:
        fits = proto_fixed(proto, 4, &field->value);
        break;
    default:
        return proto_fail(proto, "a field of an unknown wire type", err);
    }
    return fits ? 1 : proto_fail(proto, "a field that is longer than the file", err);
}

static float float_of_bits(uint64_t bits)
{
    float value;
    uint32_t half = (uint32_t)bits;
    memcpy(&value, &half, sizeof value);
    return value;
}

/* SentencePiece: 1 piece, 2 score, 3 type. */
static int read_piece(struct by_vocab *vocab, size_t id, const struct proto_field *piece,
                      const uint8_t *file, struct baryon_error *err)
{
    struct proto inner = {piece->bytes, piece->bytes + piece->size, file};
    struct proto_field field;
    int more;
    vocab->kinds[id] = BY_TOKEN_NORMAL;
    vocab->scores[id] = 0;
    vocab->tokens[id] = (struct by_meta_text){"", 0};
    while ((more = proto_next(&inner, &field, err)) > 0) {
        if (field.number == 1 && field.type == 2)
            vocab->tokens[id] = (struct by_meta_text){(const char *)field.bytes, field.size};
        else if (field.number == 2 && field.type == 5)
            vocab->scores[id] = float_of_bits(field.value);
        else if (field.number == 3 && field.type == 0 && field.value >= 1 && field.value <= 6)
            vocab->kinds[id] = (int32_t)field.value;
        else if (field.number == 3)
            return proto_fail(&inner, "a piece of an unknown type", err);
    }
    if (more < 0)
        return -1;
    if (!by_utf8_valid(vocab->tokens[id].bytes, vocab->tokens[id].size))
        return proto_fail(&inner, "a piece that is not UTF-8", err);
    return 0;
}

/* TrainerSpec: 3 model_type, 1 unigram, 2 BPE; 35 byte_fallback. */
static int read_trainer(const struct proto_field *message, const uint8_t *file, uint64_t *model,
                        struct by_piece_spec *spec, struct baryon_error *err)
{
    struct proto inner = {message->bytes, message->bytes + message->size, file};
    struct proto_field field;
    int more;
    while ((more = proto_next(&inner, &field, err)) > 0)
        if (field.number == 3 && field.type == 0)
            *model = field.value;
        else if (field.number == 35 && field.type == 0)
            spec->byte_fallback = field.value != 0;
    return more;
}

/* NormalizerSpec: 2 precompiled_charsmap, 3 add_dummy_prefix, 4 remove_extra_whitespaces. */
static int read_normalizer(const struct proto_field *message, const uint8_t *file,
                           struct by_piece_spec *spec, struct baryon_error *err)
{
    struct proto inner = {message->bytes, message->bytes + message->size, file};
    struct proto_field field;
    int more;
    while ((more = proto_next(&inner, &field, err)) > 0)
        if (field.number == 3 && field.type == 0) {
            spec->prefix = field.value != 0;
        } else if (field.number == 4 && field.type == 0) {
            spec->squeeze = field.value != 0;
        } else if (field.number == 2 && field.type == 2) {
            spec->charsmap = field.bytes;
            spec->charsmap_size = field.size;
        }
    return more;
}

int by_sentencepiece_count(const uint8_t *bytes, size_t size, uint64_t *count,
                           struct baryon_error *err)
{
    struct proto proto = {bytes, bytes + size, bytes};
    struct proto_field field;
    int more;
    *count = 0;
    while ((more = proto_next(&proto, &field, err)) > 0)
        *count += field.number == 1 && field.type == 2;
    if (more < 0)
        return -1;
    return *count ? 0 : proto_fail(&proto, "it has no pieces", err);
}

int by_sentencepiece_read(struct by_vocab *vocab, const uint8_t *bytes, size_t size,
                          struct by_piece_spec *spec, struct baryon_error *err)
{
    struct proto proto = {bytes, bytes + size, bytes};
    struct proto_field field;
    uint64_t model = 1;
    size_t id = 0;
    int more;
    *spec = (struct by_piece_spec){.prefix = true, .squeeze = true};
    while ((more = proto_next(&proto, &field, err)) > 0) {
        int status = 0;
        if (field.type != 2)
            continue;
        if (field.number == 1 && id == vocab->count)
            return by_fail(err, BARYON_ERR_INPUT,
                           "has more than %zu pieces, the embedding has so many rows",
                           vocab->count);
        if (field.number == 1)
            status = read_piece(vocab, id++, &field, bytes, err);
        else if (field.number == 2)
            status = read_trainer(&field, bytes, &model, spec, err);
        else if (field.number == 3)
            status = read_normalizer(&field, bytes, spec, err);
        if (status)
            return -1;
    }
    if (more < 0)
        return -1;
    if (model != 2 && model != 1)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "a SentencePiece model of type %" PRIu64 ", must be 1 (unigram) or 2 (BPE)",
                       model);
    spec->unigram = model == 1;
    return id ? 0 : proto_fail(&proto, "it has no pieces", err);
}
