/* Mixtures of types, as rules: the first that applies to a tensor gives its type. */
#include "llm/ggml/mixture.h"

#include <string.h>
#include <strings.h>

enum mixture {
    F32,
    F16,
    BF16,
    Q4_0,
    Q4_1,
    Q5_0,
    Q5_1,
    Q8_0,
    Q2_K,
    Q2_K_S,
    Q3_K_S,
    Q3_K_M,
    Q3_K_L,
    Q4_K_S,
    Q4_K_M,
    Q5_K_S,
    Q5_K_M,
    Q6_K,
    IQ3_XXS,
    IQ3_XS,
    IQ3_S,
    IQ3_M,
    IQ4_NL,
    IQ4_XS,
    MXFP4_MOE,
};

static const struct by_ggml_mixture mixtures[] = {
    [F32] = {"F32", 0, BY_GGML_F32},
    [F16] = {"F16", 1, BY_GGML_F16},
    [BF16] = {"BF16", 32, BY_GGML_BF16},
    [Q4_0] = {"Q4_0", 2, BY_GGML_Q4_0},
    [Q4_1] = {"Q4_1", 3, BY_GGML_Q4_1},
    [Q5_0] = {"Q5_0", 8, BY_GGML_Q5_0},
    [Q5_1] = {"Q5_1", 9, BY_GGML_Q5_1},
    [Q8_0] = {"Q8_0", 7, BY_GGML_Q8_0},
    [Q2_K] = {"Q2_K", 10, BY_GGML_Q2_K},
    [Q2_K_S] = {"Q2_K_S", 21, BY_GGML_Q2_K},
    [Q3_K_S] = {"Q3_K_S", 11, BY_GGML_Q3_K},
    [Q3_K_M] = {"Q3_K_M", 12, BY_GGML_Q3_K},
    [Q3_K_L] = {"Q3_K_L", 13, BY_GGML_Q3_K},
    [Q4_K_S] = {"Q4_K_S", 14, BY_GGML_Q4_K},
    [Q4_K_M] = {"Q4_K_M", 15, BY_GGML_Q4_K},
    [Q5_K_S] = {"Q5_K_S", 16, BY_GGML_Q5_K},
    [Q5_K_M] = {"Q5_K_M", 17, BY_GGML_Q5_K},
    [Q6_K] = {"Q6_K", 18, BY_GGML_Q6_K},
    [IQ3_XXS] = {"IQ3_XXS", 23, BY_GGML_IQ3_XXS},
    [IQ3_XS] = {"IQ3_XS", 22, BY_GGML_IQ3_S},
    [IQ3_S] = {"IQ3_S", 26, BY_GGML_IQ3_S},
    [IQ3_M] = {"IQ3_M", 27, BY_GGML_IQ3_S},
    [IQ4_NL] = {"IQ4_NL", 25, BY_GGML_IQ4_NL},
    [IQ4_XS] = {"IQ4_XS", 30, BY_GGML_IQ4_XS},
    [MXFP4_MOE] = {"MXFP4_MOE", 38, BY_GGML_MXFP4},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const struct by_ggml_mixture *by_ggml_mixture_at(size_t index)
{
    return index < COUNT(mixtures) ? &mixtures[index] : NULL;
}

const struct by_ggml_mixture *by_ggml_mixture_named(const char *name)
{
    for (size_t i = 0; i < COUNT(mixtures); i++)
        if (!strcasecmp(mixtures[i].name, name))
            return &mixtures[i];
    return NULL;
}

/* --- Rules --- */

/* What a rule asks of a tensor's place and of the model; all of its bits have to hold. */
enum {
    FIRST_TWO = 1 << 0, /* of its kind */
    FIRST_FOUR = 1 << 1,
    SIXTEENTH = 1 << 2, /* in the first sixteenth of the layers */
    EIGHTH = 1 << 3,
    MORE_BITS = 1 << 4, /* in the first and last eighth, and each third one between */
    GROUPED = 1 << 5,   /* four heads or more share keys and values */
    EIGHT = 1 << 6,     /* experts */
    NOT_EIGHT = 1 << 7,
    FALCON = 1 << 8,
    NOT_FALCON = 1 << 9,
    IMPORTANCE = 1 << 10,
    NO_IMPORTANCE = 1 << 11,
    MIDDLE = 1 << 12, /* not in the first or last eighth */
};

#define OF(mixture)   (1u << (mixture))
#define ANY           (~0u)
#define IQ4           (OF(IQ4_NL) | OF(IQ4_XS))
#define IQ3           (OF(IQ3_XXS) | OF(IQ3_XS) | OF(IQ3_S) | OF(IQ3_M))
#define RAISED_OUTPUT (OF(Q2_K) | OF(Q3_K_S) | OF(Q3_K_M) | OF(Q4_K_S) | OF(Q4_K_M) | IQ3 | IQ4)

/* IQ3_XXS has IQ2_S for q and k in llama-quantize: a type that is not written here. */
static const struct rule {
    enum by_ggml_kind kind;
    unsigned mixtures, when;
    enum by_ggml_number type;
} rules[] = {
    {BY_GGML_TOKEN_EMBD, OF(IQ3_XXS), 0, BY_GGML_IQ3_S},

    {BY_GGML_ATTN_V, ANY, EIGHT, BY_GGML_Q8_0},
    {BY_GGML_ATTN_V, OF(Q2_K) | OF(Q2_K_S), GROUPED, BY_GGML_Q4_K},
    {BY_GGML_ATTN_V, OF(Q2_K), 0, BY_GGML_Q3_K},
    {BY_GGML_ATTN_V, OF(Q3_K_M), FIRST_TWO, BY_GGML_Q5_K},
    {BY_GGML_ATTN_V, OF(Q3_K_M), 0, BY_GGML_Q4_K},
    {BY_GGML_ATTN_V, OF(Q3_K_L), 0, BY_GGML_Q5_K},
    {BY_GGML_ATTN_V, OF(IQ3_XXS) | OF(IQ3_XS) | OF(IQ3_S), GROUPED, BY_GGML_Q4_K},
    {BY_GGML_ATTN_V, OF(IQ3_XXS), NO_IMPORTANCE, BY_GGML_IQ3_S},
    {BY_GGML_ATTN_V, OF(IQ3_M), 0, BY_GGML_Q4_K},
    {BY_GGML_ATTN_V, IQ4, GROUPED, BY_GGML_Q5_K},
    {BY_GGML_ATTN_V, OF(Q4_K_M) | OF(Q5_K_M), MORE_BITS, BY_GGML_Q6_K},
    {BY_GGML_ATTN_V, OF(Q4_K_S), FIRST_FOUR, BY_GGML_Q5_K},

    {BY_GGML_ATTN_K, ANY, EIGHT, BY_GGML_Q8_0},
    {BY_GGML_ATTN_K, OF(IQ3_XS), 0, BY_GGML_IQ3_XXS},
    {BY_GGML_ATTN_Q, OF(IQ3_XS), 0, BY_GGML_IQ3_XXS},

    {BY_GGML_FFN_GATE, OF(IQ3_XS), MIDDLE, BY_GGML_IQ3_XXS},
    {BY_GGML_FFN_UP, OF(IQ3_XS), MIDDLE, BY_GGML_IQ3_XXS},

    {BY_GGML_FFN_DOWN, OF(Q2_K), 0, BY_GGML_Q3_K},
    {BY_GGML_FFN_DOWN, OF(Q2_K_S), EIGHTH, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(Q3_K_M), SIXTEENTH, BY_GGML_Q5_K},
    {BY_GGML_FFN_DOWN, OF(Q3_K_M), NOT_FALCON, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(Q3_K_M), MORE_BITS, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(Q3_K_L), FALCON, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(Q3_K_L), 0, BY_GGML_Q5_K},
    {BY_GGML_FFN_DOWN, OF(Q4_K_M), FALCON | SIXTEENTH, BY_GGML_Q6_K},
    {BY_GGML_FFN_DOWN, OF(Q4_K_M), FALCON | MORE_BITS, BY_GGML_Q5_K},
    {BY_GGML_FFN_DOWN, OF(Q4_K_M), NOT_FALCON | MORE_BITS, BY_GGML_Q6_K},
    {BY_GGML_FFN_DOWN, OF(IQ3_XXS), EIGHTH | NO_IMPORTANCE, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(IQ3_XXS), NO_IMPORTANCE, BY_GGML_Q3_K},
    {BY_GGML_FFN_DOWN, OF(IQ3_M), EIGHTH, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, OF(IQ3_M), EIGHT | MORE_BITS, BY_GGML_Q4_K},
    {BY_GGML_FFN_DOWN, IQ4, EIGHTH | NO_IMPORTANCE, BY_GGML_Q5_K},
    {BY_GGML_FFN_DOWN, OF(Q5_K_M), MORE_BITS, BY_GGML_Q6_K},
    {BY_GGML_FFN_DOWN, OF(Q4_K_S), NOT_FALCON | EIGHTH, BY_GGML_Q5_K},
    {BY_GGML_FFN_DOWN, OF(Q4_0), EIGHTH | IMPORTANCE, BY_GGML_Q4_1},
    {BY_GGML_FFN_DOWN, OF(Q5_0), EIGHTH | IMPORTANCE, BY_GGML_Q5_1},

    {BY_GGML_ATTN_OUTPUT, OF(Q3_K_L), FALCON, BY_GGML_Q4_K},
    {BY_GGML_ATTN_OUTPUT, RAISED_OUTPUT, NOT_FALCON | EIGHT, BY_GGML_Q5_K},
    {BY_GGML_ATTN_OUTPUT, OF(Q2_K), NOT_FALCON | NOT_EIGHT, BY_GGML_Q3_K},
    {BY_GGML_ATTN_OUTPUT, OF(IQ3_XXS), NOT_FALCON | NOT_EIGHT, BY_GGML_IQ3_S},
    {BY_GGML_ATTN_OUTPUT, OF(Q3_K_M) | OF(IQ3_M), NOT_FALCON | NOT_EIGHT, BY_GGML_Q4_K},
    {BY_GGML_ATTN_OUTPUT, OF(Q3_K_L), NOT_FALCON | NOT_EIGHT, BY_GGML_Q5_K},
};

static bool wants_more_bits(size_t layer, size_t layers)
{
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

/* What holds for a tensor. */
static unsigned conditions(const struct by_ggml_model *model, const struct by_ggml_tensor *tensor,
                           enum by_ggml_kind kind)
{
    const bool values = kind == BY_GGML_ATTN_V;
    const size_t layer = !values && model->experts > 1 ? tensor->layer : tensor->index;
    const size_t layers = values ? model->attn_values : model->layers;
    unsigned all = 0;
    all |= layer < 2 ? FIRST_TWO : 0;
    all |= layer < 4 ? FIRST_FOUR : 0;
    all |= layer < layers / 16 ? SIXTEENTH : 0;
    all |= layer < layers / 8 ? EIGHTH : 0;
    all |= layer >= layers / 8 && layer < 7 * layers / 8 ? MIDDLE : 0;
    all |= wants_more_bits(layer, layers) ? MORE_BITS : 0;
    all |= model->kv_heads && model->heads / model->kv_heads >= 4 ? GROUPED : 0;
    all |= model->experts == 8 ? EIGHT : NOT_EIGHT;
    all |= model->falcon ? FALCON : NOT_FALCON;
    all |= model->importance ? IMPORTANCE : NO_IMPORTANCE;
    return all;
}

static enum by_ggml_number apply_rules(const struct by_ggml_mixture *mixture,
                                       const struct by_ggml_model *model,
                                       const struct by_ggml_tensor *tensor, enum by_ggml_kind kind)
{
    const unsigned own = OF(mixture - mixtures), holds = conditions(model, tensor, kind);
    enum by_ggml_number type = mixture->base;
    for (size_t i = 0; i < COUNT(rules); i++)
        if (rules[i].kind == kind && rules[i].mixtures & own && !(rules[i].when & ~holds)) {
            type = rules[i].type;
            break;
        }
    const bool low = type == BY_GGML_Q3_K || type == BY_GGML_Q4_K;
    return kind == BY_GGML_ATTN_V && model->is_70b && low ? BY_GGML_Q5_K : type;
}

/* The output has more bits than the rest; so has an embedding that is the output too. */
static enum by_ggml_number output_type(const struct by_ggml_mixture *mixture,
                                       const struct by_ggml_model *model, uint64_t width)
{
    if (mixture->base == BY_GGML_MXFP4 || mixture->base == BY_GGML_Q8_0 || model->falcon ||
        width % by_ggml_type(mixture->base)->block)
        return BY_GGML_Q8_0;
    return mixture - mixtures == IQ3_XXS ? BY_GGML_Q5_K : BY_GGML_Q6_K;
}

static enum by_ggml_number wanted_type(const struct by_ggml_mixture *mixture,
                                       const struct by_ggml_model *model,
                                       const struct by_ggml_tensor *tensor)
{
    const enum by_ggml_kind kind = by_ggml_kind_of(tensor->name);
    if (by_ggml_type(mixture->base)->block == 1)
        return mixture->base;
    if (kind == BY_GGML_OUTPUT || (kind == BY_GGML_TOKEN_EMBD && model->tied))
        return output_type(mixture, model, tensor->width);
    if (mixture->base == BY_GGML_MXFP4)
        return tensor->matrices > 1 ? BY_GGML_MXFP4 : BY_GGML_Q8_0;
    return apply_rules(mixture, model, tensor, kind);
}

const struct by_ggml_type *by_ggml_choose(const struct by_ggml_mixture *mixture,
                                          const struct by_ggml_model *model,
                                          const struct by_ggml_tensor *tensor,
                                          const struct by_ggml_type **before)
{
    const struct by_ggml_type *wanted = by_ggml_type(wanted_type(mixture, model, tensor));
    if (before)
        *before = wanted;
    return by_ggml_fallback(wanted, tensor->width);
}

/* --- Rows that are not whole blocks --- */

static const struct {
    enum by_ggml_number from, to;
} fallbacks[] = {
    {BY_GGML_IQ1_S, BY_GGML_IQ4_NL},   {BY_GGML_IQ1_M, BY_GGML_IQ4_NL},
    {BY_GGML_IQ2_XXS, BY_GGML_IQ4_NL}, {BY_GGML_IQ2_XS, BY_GGML_IQ4_NL},
    {BY_GGML_IQ2_S, BY_GGML_IQ4_NL},   {BY_GGML_IQ3_XXS, BY_GGML_IQ4_NL},
    {BY_GGML_IQ3_S, BY_GGML_IQ4_NL},   {BY_GGML_IQ4_XS, BY_GGML_IQ4_NL},
    {BY_GGML_Q2_0, BY_GGML_Q4_0},      {BY_GGML_Q2_K, BY_GGML_Q4_0},
    {BY_GGML_Q3_K, BY_GGML_Q4_0},      {BY_GGML_TQ1_0, BY_GGML_Q4_0},
    {BY_GGML_TQ2_0, BY_GGML_Q4_0},     {BY_GGML_Q4_K, BY_GGML_Q5_0},
    {BY_GGML_Q5_K, BY_GGML_Q5_1},      {BY_GGML_Q6_K, BY_GGML_Q8_0},
};

const struct by_ggml_type *by_ggml_fallback(const struct by_ggml_type *type, uint64_t width)
{
    if (width % type->block == 0)
        return type;
    for (size_t i = 0; i < COUNT(fallbacks); i++)
        if (fallbacks[i].from == type->number) {
            type = by_ggml_type(fallbacks[i].to);
            break;
        }
    return width % type->block ? by_ggml_type(BY_GGML_F16) : type;
}
