/*
 * The format of .stats files, for the files that read and write it.
 *
 *   file    magic[8]  version u32  records  end
 *   record  kind u8  length varint  payload
 *   end     BY_STORE_END u8  size of the file u64  XXH3-128 of all before it
 *
 * One head, then the tensors, then the layers, each with its tiles after it. Numbers are
 * little-endian; a varint is LEB128 in as few bytes as possible, a signed number one in
 * zigzag form; a text is its length and UTF-8 without NUL. Equal statistics are equal
 * bytes: nothing has two spellings, and what follows from the rest is not written.
 *
 *   counts  numbers as varints; a run of zeros is 0 and its length minus 1
 *   exact   the bytes of a by_exact without those at the low end that are zero and those at
 *           the high end that only repeat the sign: bytes left out, bytes, the bytes
 *   plane   blocks of 64 int64: width u8, shift u8 unless width is 0, the numbers' bits
 *           [shift, shift + width) from the lowest on, without padding but at the end
 *   fold    0: nothing in it; else zigzag(cell) + 1, plane high, plane low
 *   votes   how many; each its levels, position, samples; ascending. Left out where none is
 */
#ifndef BY_STORE_H
#define BY_STORE_H

#include "base/file.h"
#include "base/str.h"
#include "stats/stats.h"

#define BY_STORE_MAGIC                                                                             \
    "\x8e"                                                                                         \
    "BYSTAT\n"
#define BY_STORE_MAGIC_SIZE 8u
#define BY_STORE_HEAD_SIZE  12u
#define BY_STORE_END_SIZE   25u

enum by_store_kind {
    BY_STORE_HEAD = 1,
    BY_STORE_TENSOR = 2,
    BY_STORE_LAYER = 3,
    BY_STORE_TILE = 4,
    BY_STORE_END = 5,
};

/* --- Writing --- */

void by_store_put_byte(struct by_str *out, unsigned byte);
void by_store_put_u32(struct by_str *out, uint32_t value);
void by_store_put_u64(struct by_str *out, uint64_t value);
void by_store_put_float(struct by_str *out, float value);
void by_store_put_varint(struct by_str *out, uint64_t value);
void by_store_put_signed(struct by_str *out, int64_t value);
void by_store_put_text(struct by_str *out, const char *text);
void by_store_put_hash(struct by_str *out, struct by_hash128 hash);
void by_store_put_counts(struct by_str *out, const uint64_t *counts, size_t count);
void by_store_put_exact(struct by_str *out, const struct by_exact *sum);
void by_store_put_fold(struct by_str *out, const struct by_fold *fold);
void by_store_put_sketch(struct by_str *out, const struct by_sketch *sketch);
void by_store_put_channels(struct by_str *out, const struct by_channels *channels);
void by_store_put_means(struct by_str *out, const struct by_channel_means *means);
void by_store_put_votes(struct by_str *out, const struct by_votes *votes);
void by_store_put_tensor(struct by_str *out, const struct by_tensor_stats *tensor);
/* What a layer is, without its moments: equal bytes mean equal layers. */
void by_store_put_layer(struct by_str *out, const struct by_moments_layer *layer);
/* All of it but the tiles. */
void by_store_put_layer_stats(struct by_str *out, const struct by_layer_stats *layer);

/* --- Reading: the first failure sticks, whatever is taken afterwards is 0 --- */

struct by_store_in {
    const uint8_t *file; /* offsets count from here */
    size_t at, end;      /* of the record in hand */
    struct by_arena *arena;
    size_t budget; /* bytes that may still come from the heap */
    struct baryon_error *err;
    bool failed;
};

/* Fails with an offset: of where the reader stands. */
#define by_store_fail(in, ...)                                                                     \
    do {                                                                                           \
        if (!(in)->failed) {                                                                       \
            by_fail((in)->err, BARYON_ERR_INPUT, __VA_ARGS__);                                     \
            by_err_offset((in)->err, (in)->at);                                                    \
            (in)->failed = true;                                                                   \
        }                                                                                          \
    } while (0)

size_t by_store_left(const struct by_store_in *in);
/* NULL when there are not so many. */
const uint8_t *by_store_take(struct by_store_in *in, size_t size);
unsigned by_store_take_byte(struct by_store_in *in, unsigned most);
uint64_t by_store_take_u64(struct by_store_in *in);
float by_store_take_float(struct by_store_in *in); /* finite, no -0 */
/* At most `most`; what names it in the message. */
uint64_t by_store_take_varint(struct by_store_in *in, uint64_t most, const char *what);
int64_t by_store_take_signed(struct by_store_in *in);
/* A number of items that take at least `least` bytes each. */
size_t by_store_take_count(struct by_store_in *in, size_t least, const char *what);
const char *by_store_take_text(struct by_store_in *in);
struct by_hash128 by_store_take_hash(struct by_store_in *in);
void by_store_take_counts(struct by_store_in *in, uint64_t *counts, size_t count);
void by_store_take_exact(struct by_store_in *in, struct by_exact *sum);
/* Into a fold of count entries that is empty. */
void by_store_take_fold(struct by_store_in *in, struct by_fold *fold);
void by_store_take_sketch(struct by_store_in *in, struct by_sketch *sketch);
void by_store_take_channels(struct by_store_in *in, struct by_channels *channels);
void by_store_take_means(struct by_store_in *in, struct by_channel_means *means);
/* After the rest of the sketch. */
void by_store_take_votes(struct by_store_in *in, struct by_sketch *sketch);
void by_store_take_tensor(struct by_store_in *in, struct by_tensor_stats *tensor);
void by_store_take_layer(struct by_store_in *in, struct by_moments_layer *layer);
/* tiles: how many tile records follow. */
void by_store_take_layer_stats(struct by_store_in *in, struct by_layer_stats *layer, size_t *tiles);
/* Counts memory from the heap against the budget; true when it is there. */
bool by_store_allow(struct by_store_in *in, size_t count, size_t size);

/* --- Files that tiles lie in --- */

struct by_stats_source {
    struct by_mapped mapped; /* fd -1: bytes of somebody else */
    const uint8_t *bytes;
    size_t size;
    char *name;
    unsigned uses;
};

struct by_stored_tile {
    struct by_stored_tile *next;
    struct by_stats_source *source;
    size_t at, size; /* of the fold in the file */
};

/* The stats holds on to the source until it is closed. */
int by_stats_use(struct by_stats *stats, struct by_stats_source *source, struct baryon_error *err);
void by_stats_source_drop(struct by_stats_source *source);
/* Pages that were read are given back. */
void by_stats_source_done(const struct by_stats_source *source, size_t at, size_t size);

size_t by_layer_tile_entries(const struct by_moments_layer *layer, size_t tile);
/* Adds what the file has of a tile to a fold; one of count 0 is made first. */
int by_stored_tile_add(const struct by_layer_stats *layer, size_t tile, struct by_fold *fold,
                       struct baryon_error *err);
/* Room for lists of stored tiles. */
int by_layer_stats_storable(struct by_stats *stats, struct by_layer_stats *layer,
                            struct baryon_error *err);
int by_layer_stats_store(struct by_stats *stats, struct by_layer_stats *layer, size_t tile,
                         const struct by_stored_tile *from, struct baryon_error *err);

/* a += b for what is kept of a tensor. */
int by_tensor_stats_merge(struct by_stats *stats, struct by_tensor_stats *tensor,
                          const struct by_tensor_stats *other, struct baryon_error *err);

#endif
