/* Computes sizes and offsets in images whose channels lie in blocks (NCHWc). */
#include "base/blocks.h"

#include <string.h>

size_t by_block_count(const struct by_blocks *blocks)
{
    return (blocks->channels + blocks->block - 1) / blocks->block;
}

size_t by_block_size(const struct by_blocks *blocks)
{
    return blocks->places * blocks->block;
}

const float *by_block_at(const struct by_blocks *blocks, const float *values, size_t item,
                         size_t block)
{
    return values + (item * by_block_count(blocks) + block) * by_block_size(blocks);
}

const float *by_blocks_floats(const struct by_blocks *blocks, const float *values, size_t begin,
                              size_t count, float *buffer)
{
    const size_t lanes = blocks->channels % blocks->block; /* of the last block that count */
    const size_t full = (blocks->channels - lanes) * blocks->places;
    const size_t each = blocks->channels * blocks->places;
    if (!lanes)
        return values + begin;
    for (size_t done = 0, step; done < count; done += step) {
        const size_t item = (begin + done) / each, at = (begin + done) % each;
        const float *from = by_block_at(blocks, values, item, 0);
        if (at < full) {
            step = full - at < count - done ? full - at : count - done;
            if (step == count)
                return from + at;
            memcpy(buffer + done, from + at, step * sizeof *buffer);
        } else {
            const size_t place = (at - full) / lanes, lane = (at - full) % lanes;
            step = lanes - lane < count - done ? lanes - lane : count - done;
            memcpy(buffer + done, from + full + place * blocks->block + lane,
                   step * sizeof *buffer);
        }
    }
    return buffer;
}

void by_blocks_planes(const struct by_blocks *blocks, const float *values, size_t begin, size_t end,
                      float *out)
{
    for (size_t plane = begin; plane < end; plane++) {
        const size_t item = plane / blocks->channels, channel = plane % blocks->channels;
        const float *from =
            by_block_at(blocks, values, item, channel / blocks->block) + channel % blocks->block;
        float *to = out + plane * blocks->places;
        for (size_t place = 0; place < blocks->places; place++)
            to[place] = from[place * blocks->block];
    }
}
