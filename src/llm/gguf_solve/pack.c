/* Rows of blocks to integers, codes and halves, and back. */
#include "llm/gguf_solve/piece.h"

void by_gguf_multiply(struct by_gguf_piece *piece, size_t row)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t at = row * s->groups;
    for (size_t g = 0; g < s->groups; g++) {
        const float *halves = piece->halves + 2 * (row * s->blocks + g / s->block_groups);
        piece->scales[at + g] = halves[0] * (float)piece->codes[at + g];
        piece->offsets[at + g] = s->form->min_high ? -(halves[1] * (float)piece->mins[at + g]) : 0;
    }
}

void by_gguf_unpack(struct by_gguf_piece *piece, const uint8_t *blocks, size_t row)
{
    const struct by_gguf_solving *s = piece->solving;
    const struct by_ggml_type *type = s->problem->type;
    struct by_ggml_parts parts = {0};
    int32_t *integers = piece->integers + row * s->problem->columns;
    int16_t *codes = piece->codes + row * s->groups, *mins = piece->mins + row * s->groups;
    float *halves = piece->halves + 2 * row * s->blocks;
    for (size_t b = 0; b < s->blocks; b++, blocks += type->bytes) {
        s->form->apart(blocks, &parts);
        for (size_t i = 0; i < type->block; i++)
            *integers++ = parts.levels[i] - s->form->zero;
        for (size_t g = 0; g < s->block_groups; g++) {
            *codes++ = parts.scales[g];
            *mins++ = parts.mins[g];
        }
        *halves++ = parts.halves[0];
        *halves++ = parts.halves[1];
    }
    by_gguf_multiply(piece, row);
}

void by_gguf_pack(const struct by_gguf_piece *piece, uint8_t *blocks, size_t row)
{
    const struct by_gguf_solving *s = piece->solving;
    const struct by_ggml_type *type = s->problem->type;
    struct by_ggml_parts parts;
    const int32_t *integers = piece->integers + row * s->problem->columns;
    const int16_t *codes = piece->codes + row * s->groups, *mins = piece->mins + row * s->groups;
    const float *halves = piece->halves + 2 * row * s->blocks;
    for (size_t b = 0; b < s->blocks; b++, blocks += type->bytes) {
        for (size_t i = 0; i < type->block; i++)
            parts.levels[i] = (uint8_t)(*integers++ + s->form->zero);
        for (size_t g = 0; g < s->block_groups; g++) {
            parts.scales[g] = *codes++;
            parts.mins[g] = *mins++;
        }
        parts.halves[0] = *halves++;
        parts.halves[1] = *halves++;
        s->form->together(&parts, blocks);
    }
}
