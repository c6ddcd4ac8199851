#include "quant/floats.h"
#include "quant/lower_internal.h"
#include "rounding/rounding_internal.h"

enum { NEAREST, SOLVED, SCALED, CHOICES }; /* SCALED: scales of weights are solved as well */

struct baryon_node *by_rounding_node_in_copy(const struct by_solving *solving,
                                             const struct by_round_layer *layer)
{
    return solving->copy.plan->rows.at[layer->weight].readers.at[0].node;
}

struct baryon_value *by_rounding_wanted(const struct by_solving *solving,
                                        const struct by_round_layer *layer)
{
    return by_map_get(&solving->reference->graph->values, layer->rows.name);
}

struct baryon_value *by_rounding_given(const struct by_solving *solving,
                                       const struct by_round_layer *layer)
{
    return by_map_get(&solving->reference->graph->values, by_node_in(layer->node, 0)->name);
}

/* --- Looking at samples --- */

static int gather(struct by_solving *solving, const struct by_round_layer *layer,
                  const struct by_rounding_source *source, struct by_round_moments *moments,
                  struct baryon_error *err)
{
    for (size_t i = 0; i < solving->train; i++) {
        const struct by_array *x, *y;
        if (by_rounding_go_on(solving, err) < 0 ||
            by_rounding_sample(solving, layer, source, i, &x, &y, err) < 0 ||
            by_round_moments_look(moments, solving->scratch, layer, x, y, i, err) < 0)
            return -1;
    }
    return 0;
}

struct looking {
    struct by_solving *solving;
    const struct by_round_layer *layer;
    const struct by_rounding_source *source;
};

static int look_again(void *context, struct by_round_behind *behind, struct baryon_error *err)
{
    const struct looking *looking = context;
    struct by_solving *solving = looking->solving;
    const uint64_t left_out = by_round_left_out(solving->scratch);
    for (size_t i = 0; i < solving->train; i++) {
        const struct by_array *x, *y;
        if (by_rounding_go_on(solving, err) < 0 ||
            by_rounding_sample(solving, looking->layer, looking->source, i, &x, &y, err) < 0 ||
            by_round_behind_look(behind, solving->scratch, looking->layer, x, y, i, err) < 0)
            return -1;
    }
    by_round_set_left_out(solving->scratch, left_out);
    return 0;
}

static int measure(struct by_solving *solving, const struct by_round_layer *layer,
                   const struct by_rounding_source *source, struct by_round_errors *errors,
                   struct baryon_error *err)
{
    for (size_t i = solving->train; i < solving->train + solving->judging; i++) {
        const struct by_array *x, *y;
        if (by_rounding_sample(solving, layer, source, i, &x, &y, err) < 0 ||
            by_round_errors_look(errors, solving->scratch, layer, x, y, i, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Taking what was found --- */

/* The integers behind the copy's pair. */
static int patch_integers(struct by_solving *solving, const struct by_round_layer *layer,
                          struct baryon_error *err)
{
    struct baryon_node *pair = by_node_in(by_rounding_node_in_copy(solving, layer), 1)->producer;
    const struct by_quant_row *row = &solving->q->plan->rows.at[layer->weight];
    const size_t count = layer->groups * layer->outs * layer->columns;
    int64_t *wide = by_alloc(count, sizeof *wide, err);
    uint8_t *packed = wide ? by_alloc(count, sizeof *row->rounded, err) : NULL;
    for (size_t i = 0; packed && i < count; i++)
        wide[i] = row->rounded[i];
    if (packed)
        by_lower_pack(row->spec.elem, wide, count, packed);
    by_free(wide);
    const int status = packed
                           ? by_rounding_patch(solving, pair, 0, by_node_in(pair, 0)->initializer,
                                               row->spec.elem, packed, err)
                           : -1;
    by_free(packed);
    return status;
}

/* Floats and blocks leave the values as they are: their nodes have nothing left to do. */
static int patch_values(struct by_solving *solving, const struct by_round_layer *layer,
                        struct baryon_error *err)
{
    const struct by_quant_row *row = &solving->q->plan->rows.at[layer->weight];
    return by_rounding_patch(solving, by_rounding_node_in_copy(solving, layer), 1,
                             row->value->initializer, BY_ELEM_FLOAT, row->solved, err);
}

static int patch_weight(struct by_solving *solving, const struct by_round_layer *layer,
                        const struct by_round_choice *choice, struct baryon_error *err)
{
    if (choice->scales)
        return by_rounding_patch_scaled(solving, layer, choice, err);
    if (by_rounding_floats_stay(solving)) {
        by_rounding_patch_floats(solving, layer, choice);
        return 0;
    }
    return by_round_has_grid(solving->q->plan, layer) ? patch_values(solving, layer, err)
                                                      : patch_integers(solving, layer, err);
}

static int patch_copy(struct by_solving *solving, const struct by_round_layer *layer,
                      const struct by_round_choice *choice, struct baryon_error *err)
{
    if (patch_weight(solving, layer, choice, err) < 0)
        return -1;
    return layer->bias
               ? by_rounding_patch(solving, by_rounding_node_in_copy(solving, layer), 2,
                                   layer->bias->initializer, BY_ELEM_FLOAT, choice->biases, err)
               : 0;
}

static int take(struct by_solving *solving, size_t place, const struct by_round_choice *choice,
                struct baryon_error *err)
{
    const struct by_round_layer *layer = &solving->layers[place];
    struct by_quantization *q = solving->q;
    if (layer->bias) {
        solving->old_biases[place] = by_floats_copy(layer->bias->initializer, NULL, err);
        if (!solving->old_biases[place])
            return -1;
    }
    solving->taken = choice;
    if (by_round_take(q->plan, layer, choice, q->pool, err) < 0)
        return -1;
    return patch_copy(solving, layer, choice, err);
}

/* --- Deciding --- */

#define WORTH 0.9 /* of the error, or less, or scales of weights stay */

/* Other scales have to be clearly better, and rules of hardware let them be. */
static int pick(struct by_solving *solving, const struct by_round_layer *layer,
                const struct by_round_choice *choices, const double noise[CHOICES], size_t *best,
                struct baryon_error *err)
{
    bool moved = false;
    *best = SOLVED;
    if (!choices[SCALED].scales || !(noise[SCALED] < WORTH * noise[SOLVED]) ||
        !(noise[SCALED] < noise[NEAREST]))
        return 0;
    if (by_rounding_move_weight(solving, layer, &choices[SCALED], &moved, err) < 0)
        return -1;
    *best = moved ? SCALED : SOLVED;
    return 0;
}

/* Samples that judge are none of those that it was solved on, unless there are no others. */
static int decide(struct by_solving *solving, size_t place, const struct by_rounding_source *source,
                  struct by_round_choice *choices, struct baryon_error *err)
{
    const struct by_round_layer *layer = &solving->layers[place];
    double noise[CHOICES] = {0};
    struct by_round_errors errors = {
        .choices = choices, .count = choices[SCALED].scales ? CHOICES : SCALED, .noise = noise};
    size_t best;
    if (measure(solving, layer, source, &errors, err) < 0 ||
        pick(solving, layer, choices, noise, &best, err) < 0)
        return -1;
    struct by_solved_layer *row = &solving->q->report.solved.layers[place];
    row->nearest = by_decibels(errors.signal, noise[NEAREST]);
    row->solved = by_decibels(errors.signal, noise[best]);
    row->kept = noise[best] < noise[NEAREST];
    by_log(solving->q->options->log, BY_LOG_INFO, "%s: %.2f dB, nearest rounding %.2f dB%s",
           row->name, row->solved, row->nearest,
           !row->kept       ? ", nearest rounding kept"
           : best == SCALED ? ", scales changed"
                            : "");
    return row->kept ? take(solving, place, &choices[best], err) : 0;
}

static int choose(struct by_solving *solving, size_t place, const struct by_rounding_source *source,
                  struct by_round_moments *moments, struct by_round_choice choices[CHOICES],
                  struct baryon_error *err)
{
    const struct by_round_layer *layer = &solving->layers[place];
    const struct by_recipe *recipe = &solving->recipe;
    struct looking looking = {solving, layer, source};
    const struct by_round_options options = {
        .look = look_again,
        .context = &looking,
        .scales = solving->scales != BY_ROUNDING_NO_SCALES && by_rounding_may_scale(solving, layer),
        .mix = recipe->rounding_mix,
        .mixes_means = by_round_has_grid(solving->q->plan, layer),
        .damping = recipe->rounding_damping,
        .free = recipe->rounding_free,
        .fixed_biases = !recipe->rounding_biases,
        .gptq = recipe->rounding == BY_ROUNDING_GPTQ,
        .starts = recipe->rounding == BY_ROUNDING_DESCENT ? recipe->rounding_starts : 1,
        .lots = place,
        .relaxation = recipe->rounding == BY_ROUNDING_RELAXATION ? recipe->rounding_iterations : 0,
    };
    struct by_quantization *q = solving->q;
    /* Others look at the whole matrix. */
    if (recipe->rounding == BY_ROUNDING_DESCENT && recipe->rounding_starts < 2)
        moments->samples = solving->train;
    if (gather(solving, layer, source, moments, err) < 0)
        return -1;
    q->report.solved.layers[place].rows = moments->rows;
    q->report.solved.layers[place].columns = layer->columns;
    if (!moments->rows)
        return 0;
    if (by_round_moments_finish(moments, layer->bias != NULL, q->pool, err) < 0 ||
        by_round_nearest(q->plan, layer, q->pool, &choices[NEAREST], err) < 0 ||
        by_round_solve(q->plan, layer, moments, &options, q->pool, &choices[SOLVED],
                       &choices[SCALED], err) < 0)
        return -1;
    return decide(solving, place, source, choices, err);
}

static int solve(struct by_solving *solving, size_t place, const struct by_rounding_source *source,
                 struct baryon_error *err)
{
    struct by_round_moments moments;
    struct by_round_choice choices[CHOICES] = {{0}};
    if (by_round_moments_init(&moments, &solving->layers[place], err) < 0)
        return -1;
    int status = choose(solving, place, source, &moments, choices, err);
    by_round_moments_release(&moments);
    if (status == 0)
        status = by_rounding_keep_add(solving, place, solving->taken, err);
    for (size_t i = 0; i < CHOICES; i++)
        by_round_choice_release(&choices[i]);
    return status;
}

/* As it was solved before it came to an interruption. */
static int solve_again(struct by_solving *solving, size_t place, struct baryon_error *err)
{
    const struct by_round_choice *choice = &solving->known.choice;
    bool moved = true;
    if (!choice->integers)
        return 0;
    if (choice->scales &&
        by_rounding_move_weight(solving, &solving->layers[place], choice, &moved, err) < 0)
        return -1;
    if (!moved)
        return by_fail(err, BARYON_ERR_INTERNAL, "%s: the scales found cannot be applied again",
                       solving->layers[place].rows.name);
    return take(solving, place, choice, err);
}

/* What the reference gives for the layer, and reads where that is what it is solved on. */
static int reach_reference(struct by_solving *solving, const struct by_round_layer *layer,
                           struct baryon_value *wanted[2], struct baryon_error *err)
{
    wanted[0] = by_rounding_wanted(solving, layer);
    wanted[1] = solving->recipe.rounding_on_float ? by_rounding_given(solving, layer) : NULL;
    return by_stages_reach(solving->exact, wanted, 1 + (wanted[1] != NULL), err);
}

/* What is known already is run in the same pieces: others could be computed with other bits. */
int by_rounding_layer(struct by_solving *solving, size_t place, struct baryon_error *err)
{
    const struct by_round_layer *layer = &solving->layers[place];
    struct baryon_value *wanted[2];
    struct by_rounding_source source;
    solving->taken = NULL;
    if (by_rounding_keep_next(solving, place, err) < 0 ||
        reach_reference(solving, layer, wanted, err) < 0 ||
        (solving->scales == BY_ROUNDING_SCALES_OF_LAYERS &&
         by_rounding_scale(solving, place, err) < 0) ||
        by_rounding_source_of(by_rounding_node_in_copy(solving, layer), &source, err) < 0 ||
        by_stages_reach(solving->rounded, &source.value, 1, err) < 0)
        return -1;
    source.reference = wanted[1];
    const int status = solving->known.is_there ? solve_again(solving, place, err)
                                               : solve(solving, place, &source, err);
    by_stages_let_go(solving->exact, wanted[0]);
    if (wanted[1])
        by_stages_let_go(solving->exact, wanted[1]);
    by_stages_let_go(solving->rounded, source.value);
    return status;
}
