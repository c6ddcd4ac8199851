/* Explains in words where a quantized model loses most, from plan, statistics and twin. */
#include "base/str.h"
#include "quant/floats.h"
#include "quant/refine.h"
#include "sensitivity/sensitivity_internal.h"

#include <math.h>

#define ENOUGH 20.0 /* dB */
#define ALIKE  1.0  /* dB */
#define BEYOND 3.0  /* dB that rounding costs after passes, which are the cause no longer then */

/* --- Values and what they become --- */

static void say_place(struct by_str *text, const int64_t *at, size_t rank)
{
    by_str_puts(text, "[");
    for (size_t i = 0; i < rank; i++)
        by_str_printf(text, "%s%lld", i ? ", " : "", (long long)at[i]);
    by_str_puts(text, "]");
}

/* What so many of 1000 magnitudes do not exceed; NAN: nobody looked. */
static double magnitude_of(struct by_quantization *q, const char *name, double share,
                           struct baryon_error *err)
{
    const struct by_tensor_stats *stats = q->stats ? by_stats_find(q->stats, name) : NULL;
    struct by_sketch_bin *bins;
    size_t count;
    if (!stats || !by_sketch_finite(&stats->sketch))
        return NAN;
    if (by_sketch_magnitudes(&stats->sketch, &bins, &count, err) < 0)
        return NAN;
    const double wanted = share * (double)by_sketch_finite(&stats->sketch);
    double seen = 0, bound = NAN;
    for (size_t i = 0; i < count && !(seen >= wanted); i++) {
        seen += (double)bins[i].count;
        bound = bins[i].high;
    }
    by_free(bins);
    return bound;
}

/* What a rule of hardware did to the scale last; NULL: nothing. */
static const struct by_quant_remark *move_of(const struct by_quant_row *row)
{
    for (size_t i = row->remarks.count; i-- > 0;)
        if (by_refine_rule_find(row->remarks.at[i].rule))
            return &row->remarks.at[i];
    return NULL;
}

/* A scale that was moved is none that its values asked for. Rows that share it tell as well. */
void by_sensitivity_say_moves(const struct by_quantization *q, size_t row, struct by_str *text)
{
    const size_t owner = by_quant_owner(q->plan, row);
    const struct by_quant_remark *move = move_of(&q->plan->rows.at[row]);
    for (size_t i = 0; !move && i < q->plan->rows.count; i++)
        if (by_quant_owner(q->plan, i) == owner)
            move = move_of(&q->plan->rows.at[i]);
    if (move)
        by_str_printf(text, " The hardware rule %s changed its scale: %s.", move->rule, move->text);
}

static bool say_blocks(const struct by_quant_row *row, struct by_str *text)
{
    if (!by_spec_is_block(&row->spec))
        return false;
    by_str_printf(text, "; blocks of %s along axis %d", row->spec.format->name, row->block_axis);
    return true;
}

/* What is as fine everywhere has a step; a float type has none. */
static void say_step(const struct by_quantization *q, size_t index, struct by_str *text)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    const struct by_params *params = by_quant_params(q->plan, index);
    if (!say_blocks(row, text) && !row->spec.format && params->count == 1)
        by_str_printf(text, "; a step is %.4g", (double)params->scales[0]);
}

static int say_tensor(const struct by_sensed_tensor *tensor, struct by_quantization *q,
                      struct by_str *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_err_clear(err);
    const double most = magnitude_of(q, tensor->name, 0.999, err);
    if (err->code)
        return -1;
    by_str_printf(text,
                  " Tensor %s has the lowest SQNR by itself: %.1f dB. Its values range from %.4g "
                  "to %.4g with a root mean square of %.4g",
                  by_quote(quoted, tensor->name), tensor->alone, tensor->min, tensor->max,
                  tensor->rms);
    if (!isnan(most))
        by_str_printf(text, ", 99.9 %% of them within %.4g", most);
    say_step(q, tensor->row, text);
    by_str_puts(text, "; the greatest is at ");
    say_place(text, tensor->at, tensor->rank);
    by_str_printf(text, " of held-out sample %llu, both counted from 0.",
                  (unsigned long long)tensor->sample);
    by_sensitivity_say_moves(q, tensor->row, text);
    return 0;
}

static void say_scales(const struct by_quantization *q, size_t index, struct by_str *text)
{
    const struct by_quant_row *row = &q->plan->rows.at[index];
    const struct by_params *params = by_quant_params(q->plan, index);
    if (!say_blocks(row, text) && !row->spec.format && params->count == 1)
        by_str_printf(text, ", with one scale for all of them, %.4g", (double)params->scales[0]);
    else if (!row->spec.format)
        by_str_printf(text, ", with %zu scales", params->count);
    by_str_puts(text, ".");
}

static int say_weight(const struct by_sensed_layer *layer, const struct by_quantization *q,
                      struct by_str *text, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_quant_row *row = &q->plan->rows.at[layer->weight];
    struct by_floats_view floats;
    size_t top = 0;
    double squares = 0;
    if (by_floats_open(&floats, row->value->initializer, err) < 0)
        return -1;
    const size_t count = floats.count;
    for (size_t i = 0; i < count; i++) {
        squares += (double)floats.values[i] * (double)floats.values[i];
        if (fabsf(floats.values[i]) > fabsf(floats.values[top]))
            top = i;
    }
    const double most = count ? (double)fabsf(floats.values[top]) : 0;
    by_floats_close(&floats);
    by_str_printf(text,
                  " The weights of layer %s have the lowest SQNR by themselves: %.1f dB. Their "
                  "greatest magnitude is %.4g, their root mean square %.4g",
                  by_quote(quoted, layer->name), layer->weights, most,
                  count ? sqrt(squares / (double)count) : 0);
    say_scales(q, layer->weight, text);
    by_sensitivity_say_moves(q, layer->weight, text);
    return 0;
}

/* --- Which --- */

static const struct by_sensed_layer *worst_layer(const struct by_sensitivity *sensitivity)
{
    const struct by_sensed_layer *worst = NULL;
    for (size_t i = 0; i < sensitivity->layer_count; i++)
        if (!worst || sensitivity->layers[i].weights < worst->weights)
            worst = &sensitivity->layers[i];
    return worst;
}

static const struct by_sensed_tensor *worst_tensor(const struct by_sensitivity *sensitivity)
{
    const struct by_sensed_tensor *worst = NULL;
    for (size_t i = 0; i < sensitivity->tensor_count; i++)
        if (!worst || sensitivity->tensors[i].alone < worst->alone)
            worst = &sensitivity->tensors[i];
    return worst;
}

struct by_culprit by_sensitivity_culprit(const struct by_sensitivity *sensitivity)
{
    const double *sqnr = sensitivity->sqnr;
    const double gap = sqnr[BY_STATE_WEIGHTS] - sqnr[BY_STATE_ACTIVATIONS];
    struct by_culprit culprit = {.blame = BY_BLAME_BOTH};
    if (sqnr[BY_STATE_FLOAT] < ENOUGH && sqnr[BY_STATE_BOTH] > sqnr[BY_STATE_FLOAT] - BEYOND)
        return (struct by_culprit){.blame = BY_BLAME_PASSES};
    if (fabs(gap) >= ALIKE)
        culprit.blame = gap > 0 ? BY_BLAME_ACTIVATIONS : BY_BLAME_WEIGHTS;
    if (culprit.blame != BY_BLAME_ACTIVATIONS)
        culprit.layer = worst_layer(sensitivity);
    if (culprit.blame != BY_BLAME_WEIGHTS)
        culprit.tensor = worst_tensor(sensitivity);
    return culprit;
}

static const char *const blames[] = {
    [BY_BLAME_BOTH] = "Weights and activations contribute about equally",
    [BY_BLAME_WEIGHTS] = "Weights are the cause",
    [BY_BLAME_ACTIVATIONS] = "Activations are the cause",
    [BY_BLAME_PASSES] = "The passes that simulate hardware are the cause",
};

const char *by_sensitivity_blame(enum by_blame blame)
{
    return blames[blame];
}

int by_sensitivity_cause(const struct by_sensitivity *sensitivity, struct by_quantization *q,
                         struct by_str *text, struct baryon_error *err)
{
    const double *sqnr = sensitivity->sqnr;
    const struct by_culprit culprit = by_sensitivity_culprit(sensitivity);
    struct baryon_error local;
    if (sqnr[BY_STATE_BOTH] >= ENOUGH)
        return 0;
    by_str_puts(text, blames[culprit.blame]);
    if (culprit.blame == BY_BLAME_PASSES) {
        by_str_printf(text, ": the model has %.1f dB before quantization.", sqnr[BY_STATE_FLOAT]);
        return 0;
    }
    by_str_puts(text, ".");
    if (culprit.tensor && say_tensor(culprit.tensor, q, text, err ? err : &local) < 0)
        return -1;
    if (culprit.layer && say_weight(culprit.layer, q, text, err) < 0)
        return -1;
    if (sqnr[BY_STATE_FLOAT] < ENOUGH)
        by_str_printf(text,
                      " The passes that simulate hardware reduce it to %.1f dB by themselves.",
                      sqnr[BY_STATE_FLOAT]);
    return 0;
}
