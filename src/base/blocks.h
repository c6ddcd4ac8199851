/*
 * Images as ONNX Runtime's convolutions like them (NCHWc): channels in blocks of 8 or 16 that lie
 * side by side, [item][channel / block][place][block]. The last block may be padded; what is
 * in the padding means nothing.
 */
#ifndef BY_BLOCKS_H
#define BY_BLOCKS_H

#include <stddef.h>

struct by_blocks {
    size_t channels, block, places; /* channels: without the padding */
};

size_t by_block_count(const struct by_blocks *blocks); /* of an item */
/* Values of a block of an item, and where it begins. */
size_t by_block_size(const struct by_blocks *blocks);
const float *by_block_at(const struct by_blocks *blocks, const float *values, size_t item,
                         size_t block);
/*
 * Values [begin, begin + count) in the order of memory, padding left out: where they lie, or
 * in the buffer.
 */
const float *by_blocks_floats(const struct by_blocks *blocks, const float *values, size_t begin,
                              size_t count, float *buffer);
/* Planes [begin, end) of all items, [item][channel][place], to where they belong in out. */
void by_blocks_planes(const struct by_blocks *blocks, const float *values, size_t begin, size_t end,
                      float *out);

#endif
