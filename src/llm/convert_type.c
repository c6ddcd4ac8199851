/* Which type each tensor of a GGUF file gets. */
#include "llm/convert_type.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

static const struct by_convert_mix mixes[] = {
    {"f32", BY_GGML_F32, BY_GGML_F32, 0},       {"f16", BY_GGML_F16, BY_GGML_F16, 1},
    {"bf16", BY_GGML_BF16, BY_GGML_BF16, 32},   {"q8_0", BY_GGML_Q8_0, BY_GGML_Q8_0, 7},
    {"q4_0", BY_GGML_Q4_0, BY_GGML_Q4_0, 2},    {"q4_1", BY_GGML_Q4_1, BY_GGML_Q4_1, 3},
    {"q5_0", BY_GGML_Q5_0, BY_GGML_Q5_0, 8},    {"q5_1", BY_GGML_Q5_1, BY_GGML_Q5_1, 9},
    {"q4_k_s", BY_GGML_Q4_K, BY_GGML_Q4_K, 14}, {"q4_k_m", BY_GGML_Q4_K, BY_GGML_Q6_K, 15},
    {"q5_k_s", BY_GGML_Q5_K, BY_GGML_Q5_K, 16}, {"q5_k_m", BY_GGML_Q5_K, BY_GGML_Q6_K, 17},
    {"q6_k", BY_GGML_Q6_K, BY_GGML_Q6_K, 18},
};

/* Where rows do not divide into blocks: types of smaller blocks, one after the other. */
static const struct {
    enum by_ggml_number from, to;
} fallbacks[] = {
    {BY_GGML_Q4_K, BY_GGML_Q5_0}, {BY_GGML_Q5_K, BY_GGML_Q5_1}, {BY_GGML_Q6_K, BY_GGML_Q8_0},
    {BY_GGML_Q4_0, BY_GGML_F16},  {BY_GGML_Q4_1, BY_GGML_F16},  {BY_GGML_Q5_0, BY_GGML_F16},
    {BY_GGML_Q5_1, BY_GGML_F16},  {BY_GGML_Q8_0, BY_GGML_F16},
};

const struct by_convert_mix *by_convert_mix(const char *name)
{
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (!strcasecmp(mixes[i].name, name))
            return &mixes[i];
    return NULL;
}

void by_convert_mix_list(char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        by_text_add(&text, "%s%s", i ? ", " : "", mixes[i].name);
}

/* The first and last eighth of the layers, and every third one between. */
static bool layer_matters(uint64_t layer, uint64_t layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

static bool gets_more(const struct by_convert_place *place)
{
    if (place->head)
        return true;
    bool matters = place->role == BY_LLM_V || place->role == BY_LLM_DOWN;
    return matters && layer_matters(place->layer, place->layers);
}

static bool divides(const struct by_made_tensor *made, const struct by_ggml_type *type)
{
    return made->dims[made->rank - 1] % type->block == 0;
}

void by_convert_type(struct by_made_tensor *made, const struct by_convert_mix *mix,
                     const struct by_convert_place *place, bool *fell_back)
{
    const struct by_ggml_type *type = by_ggml_type((uint32_t)mix->type);
    *fell_back = false;
    if (made->rank < 2 || place->role == BY_LLM_ROUTER || place->role == BY_LLM_SHARED_GATE) {
        made->type = by_ggml_type(BY_GGML_F32);
        return;
    }
    /* A head that is not in blocks of 256 is kept better than other matrices. */
    if (place->head && type->block > 1)
        type = by_ggml_type(mix->type == BY_GGML_Q8_0 ? BY_GGML_Q8_0 : BY_GGML_Q6_K);
    else if (gets_more(place))
        type = by_ggml_type((uint32_t)mix->more);
    for (size_t i = 0; i < sizeof fallbacks / sizeof *fallbacks && !divides(made, type); i++)
        if (fallbacks[i].from == type->number) {
            type = by_ggml_type((uint32_t)fallbacks[i].to);
            *fell_back = true;
        }
    made->type = type;
}
