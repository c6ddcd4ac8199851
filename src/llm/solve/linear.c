/* From the nearest codes with searched scales to those of least output error, and back to codes. */
#include "llm/solve/linear.h"

#include "array/elem.h"
#include "llm/scheme/scale.h"
#include "solve/fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_VALUES ((size_t)1 << 16) /* of rows that a thread rounds at once */

bool by_llm_is_solvable(const struct by_llm_spec *spec)
{
    return by_llm_spec_is_scaled(spec) && !spec->dtype->block.size;
}

/* --- The nearest --- */

struct nearest {
    const struct by_llm_tensor *tensor;
    const float *weights;
    struct by_llm_coded *coded;
};

static int round_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct nearest *n = context;
    struct by_llm_scratch *scratch = by_llm_scratch_open(n->tensor, err);
    struct by_llm_coded part = by_llm_coded_from(n->coded, n->tensor, begin);
    (void)worker;
    const int status =
        scratch ? by_llm_quantize_rows(n->tensor, scratch, n->weights + begin * n->tensor->columns,
                                       end - begin, &part, err)
                : -1;
    by_llm_scratch_close(scratch);
    return status;
}

int by_llm_linear_nearest(const struct by_llm_tensor *tensor, const float *weights, size_t rows,
                          struct by_pool *pool, struct by_llm_coded *coded,
                          struct baryon_error *err)
{
    struct nearest nearest = {tensor, weights, coded};
    const size_t some = PIECE_VALUES / tensor->columns;
    return by_par_for(pool, rows, some ? some : 1, round_piece, &nearest, err);
}

/* --- Levels --- */

#define TABLE 256

struct solving {
    const struct by_llm_problem *problem;
    const struct by_llm_tensor *tensor;
    struct by_llm_scales scales;
    struct by_descent form;
    struct by_descent_grid grid;
    float *effective;  /* [rows][groups]: what a level is multiplied with */
    int32_t *integers; /* [rows][columns] */
    float levels[TABLE];
    uint8_t code_of[TABLE];  /* by level */
    int32_t level_of[TABLE]; /* by code */
};

static int by_value(const void *left, const void *right)
{
    const float a = *(const float *)left, b = *(const float *)right;
    return (a > b) - (a < b);
}

/* The finite values of a small float in their order. Of both zeros it is the positive one. */
static int list_levels(struct solving *s, struct baryon_error *err)
{
    const struct by_dtype *dtype = s->tensor->spec->dtype;
    const size_t codes = (size_t)1 << dtype->bits;
    uint8_t all[TABLE];
    float values[TABLE];
    size_t count = 0;
    for (size_t i = 0; i < codes; i++)
        all[i] = (uint8_t)i;
    if (by_dtype_decode(dtype, all, codes, &by_cast_default, NULL, values, err))
        return -1;
    for (size_t i = 0; i < codes; i++)
        if (isfinite(values[i]))
            s->levels[count++] = values[i];
    qsort(s->levels, count, sizeof *s->levels, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!kept || s->levels[i] != s->levels[kept - 1])
            s->levels[kept++] = s->levels[i];
    for (size_t i = codes; i-- > 0;)
        for (size_t k = 0; k < kept; k++)
            if (values[i] == s->levels[k]) {
                s->code_of[k] = (uint8_t)i;
                s->level_of[i] = (int32_t)k;
            }
    s->grid.table = s->levels;
    s->form.grid = &s->grid;
    s->form.low = 0;
    s->form.high = (int32_t)kept - 1;
    return 0;
}

static bool has_table(const struct solving *s)
{
    return !by_llm_spec_is_int(s->tensor->spec);
}

static float unit_of(const struct by_llm_tensor *tensor)
{
    return tensor->spec->over_fp8 ? tensor->scale : 1;
}

static void read_codes(struct solving *s, const struct by_llm_coded *coded)
{
    const size_t count = s->problem->rows * s->problem->columns;
    const bool has_sign = s->tensor->spec->dtype->low < 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t code = coded->codes[i];
        s->integers[i] = has_table(s) ? s->level_of[code] : has_sign ? (int8_t)code : code;
    }
    for (size_t i = 0; i < s->problem->rows * s->tensor->groups; i++)
        s->effective[i] = has_table(s) ? by_llm_effective(s->tensor, coded->scales[i])
                                       : coded->scales[i] * unit_of(s->tensor);
}

/* --- Scales as they are stored --- */

static bool has_fixed_scales(const struct by_llm_spec *spec)
{
    return spec->grain == BY_LLM_TENSOR || spec->scale == BY_LLM_SCALE_E8M0;
}

/* An effective scale rounded to such as can be stored. */
static float store_one(const struct solving *s, float effective, float *stored, uint8_t *code)
{
    const struct by_llm_tensor *tensor = s->tensor;
    if (has_table(s)) {
        const float peak = effective * s->scales.most;
        by_llm_float_scales(&s->scales, tensor, &peak, 1, 1, stored, code);
        return by_llm_effective(tensor, *stored);
    }
    const int64_t elem = tensor->spec->scale == BY_LLM_SCALE_MODEL ? tensor->stored : BY_ELEM_FLOAT;
    *stored = by_llm_stored(elem, effective / unit_of(tensor));
    return *stored * unit_of(tensor);
}

static void store_row(void *context, size_t out, float *scales)
{
    const struct solving *s = context;
    uint8_t code = 0;
    float stored;
    (void)out;
    for (size_t g = 0; g < s->tensor->groups; g++)
        scales[g] = store_one(s, scales[g], &stored, &code);
}

static void write_codes(const struct solving *s, struct by_llm_coded *coded)
{
    const size_t count = s->problem->rows * s->problem->columns;
    for (size_t i = 0; i < count; i++)
        coded->codes[i] =
            has_table(s) ? s->code_of[s->integers[i]] : (uint8_t)(uint32_t)s->integers[i];
    if (has_fixed_scales(s->tensor->spec))
        return;
    for (size_t i = 0; i < s->problem->rows * s->tensor->groups; i++) {
        uint8_t *code = &coded->scale_codes[i];
        store_one(s, s->effective[i], &coded->scales[i], code);
    }
}

/* --- Solving --- */

static int open_solving(struct solving *s, const struct by_llm_coded *coded,
                        const struct by_llm_solver *solver, struct baryon_error *err)
{
    const struct by_llm_problem *problem = s->problem;
    const struct by_llm_spec *spec = s->tensor->spec;
    s->effective = by_alloc(problem->rows * s->tensor->groups, sizeof(float), err);
    s->integers = by_alloc(problem->rows * problem->columns, sizeof(int32_t), err);
    if (!s->effective || !s->integers)
        return -1;
    s->form = (struct by_descent){.columns = problem->columns,
                                  .outs = problem->rows,
                                  .gram = problem->gram,
                                  .pull = problem->pull,
                                  .weights = problem->weights,
                                  .scales = s->effective,
                                  .groups = s->tensor->groups,
                                  .group = s->tensor->group,
                                  .low = (int32_t)spec->dtype->low,
                                  .high = (int32_t)spec->dtype->high,
                                  .sweeps = solver->options.sweeps,
                                  .free = true,
                                  .gram_is_finite = true};
    if (has_table(s)) {
        by_llm_scales_open(&s->scales, s->tensor);
        if (list_levels(s, err))
            return -1;
    } else if (spec->asymmetric) {
        s->form.zeros = coded->zeros;
    } else {
        s->form.grid = &s->grid; /* scales have any sign */
    }
    return 0;
}

/* Descent, and what is left of the form's slopes where `residuals` is not NULL. */
static int descend_levels(struct solving *s, float *residuals, struct by_pool *pool,
                          struct baryon_error *err)
{
    s->form.residual = residuals;
    if (s->form.sweeps)
        return by_descent_run(&s->form, pool, s->integers, NULL, err);
    return residuals ? by_descent_residuals(&s->form, pool, s->integers, residuals, err) : 0;
}

static int fit_scales(struct solving *s, unsigned fits, float *residuals, struct by_pool *pool,
                      struct baryon_error *err)
{
    const struct by_fit fit = {store_row, s};
    for (unsigned i = 0; i < fits; i++)
        if (by_fit_run(&s->form, s->integers, residuals, &fit, pool, s->effective, err) ||
            descend_levels(s, i + 1 < fits ? residuals : NULL, pool, err))
            return -1;
    return 0;
}

static int solve(struct solving *s, unsigned fits, struct by_pool *pool, struct baryon_error *err)
{
    const struct by_gptq_factor *factor = s->problem->factor;
    if (factor && by_gptq_round(&s->form, factor, pool, s->integers, err))
        return -1;
    if (!fits || has_fixed_scales(s->tensor->spec))
        return descend_levels(s, NULL, pool, err);
    float *residuals = by_alloc(s->problem->rows * s->problem->columns, sizeof *residuals, err);
    const int status = residuals ? descend_levels(s, residuals, pool, err) ||
                                       fit_scales(s, fits, residuals, pool, err)
                                 : -1;
    by_free(residuals);
    return status ? -1 : 0;
}

int by_llm_linear_solve(const struct by_llm_problem *problem, const struct by_llm_tensor *tensor,
                        const struct by_llm_solver *solver, struct by_pool *pool,
                        struct by_llm_coded *coded, struct baryon_error *err)
{
    struct by_llm_tensor weighted = *tensor;
    struct solving s = {.problem = problem, .tensor = tensor};
    weighted.importance = problem->importance;
    int status =
        by_llm_linear_nearest(&weighted, problem->weights, problem->rows, pool, coded, err) ||
        open_solving(&s, coded, solver, err);
    if (!status) {
        read_codes(&s, coded);
        status = solve(&s, solver->options.fits, pool, err);
    }
    if (!status)
        write_codes(&s, coded);
    by_free(s.effective);
    by_free(s.integers);
    return status ? -1 : 0;
}
