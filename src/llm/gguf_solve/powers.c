/*
 * Powers of two as scales: the encoder takes the one next to the greatest weight, whatever becomes
 * of the others. Of its neighbours, the one whose nearest levels have the least weighted error.
 */
#include "llm/gguf_solve/piece.h"

#include <math.h>

#define TRIED 3
#define FIRST (-1) /* exponents more than the encoder's */

static uint8_t nearest_level(const struct by_ggml_form *form, float x)
{
    uint8_t level = form->least;
    while (level < form->most && x - form->table[level] > form->table[level + 1] - x)
        level++;
    return level;
}

/* Nearest levels for a scale, and their error. */
static float round_block(const struct by_ggml_form *form, const float *x, const float *importance,
                         float scale, uint8_t *levels)
{
    const float inverse = 1 / scale;
    float error = 0;
    for (size_t i = 0; i < form->group; i++) {
        levels[i] = nearest_level(form, x[i] * inverse);
        const float off = x[i] - scale * form->table[levels[i]];
        error += importance[i] * off * off;
    }
    return error;
}

static void choose_power(const struct by_ggml_form *form, const float *x, const float *importance,
                         uint8_t *block)
{
    struct by_ggml_parts parts, best;
    float least = INFINITY;
    form->apart(block, &parts);
    if (!(parts.halves[0] > 0x1p-100f && parts.halves[0] < 0x1p100f))
        return;
    best = parts;
    for (int i = 0; i < TRIED; i++) {
        struct by_ggml_parts tried = parts;
        tried.halves[0] = ldexpf(parts.halves[0], FIRST + i);
        const float error = round_block(form, x, importance, tried.halves[0], tried.levels);
        if (error < least) {
            least = error;
            best = tried;
        }
    }
    form->together(&best, block);
}

void by_gguf_choose_powers(const struct by_gguf_piece *piece, uint8_t *blocks)
{
    const struct by_gguf_solving *s = piece->solving;
    const size_t width = s->form->group;
    for (size_t row = 0; row < piece->rows; row++)
        for (size_t b = 0; b < s->blocks; b++, blocks += s->problem->type->bytes)
            choose_power(s->form, piece->weights + row * s->problem->columns + b * width,
                         s->importance + b * width, blocks);
}
