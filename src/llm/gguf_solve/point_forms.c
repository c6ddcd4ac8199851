/* What gram, and a factor of it, say of four columns whose values are a point. */
#include "llm/gguf_solve/piece.h"

#define FOUR BY_POINT_VALUES
/* Of the mean diagonal, so that slopes along which samples say little lead nowhere far. */
#define RIDGE 1e-3

/* Gauss-Jordan, of a matrix that is positive definite. */
static void invert(double a[FOUR][FOUR], float inverse[FOUR][FOUR])
{
    double b[FOUR][FOUR] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    for (size_t k = 0; k < FOUR; k++) {
        const double by = 1 / a[k][k];
        for (size_t j = 0; j < FOUR; j++) {
            a[k][j] *= by;
            b[k][j] *= by;
        }
        for (size_t i = 0; i < FOUR; i++) {
            const double times = i == k ? 0 : a[i][k];
            for (size_t j = 0; j < FOUR; j++) {
                a[i][j] -= times * a[k][j];
                b[i][j] -= times * b[k][j];
            }
        }
    }
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < FOUR; j++)
            inverse[i][j] = (float)b[i][j];
}

/* Of a matrix with rows of `stride`. */
static void read_four(const float *gram, size_t stride, struct by_gguf_four *four)
{
    double a[FOUR][FOUR], trace = 0;
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < FOUR; j++) {
            four->gram[i][j] = gram[i * stride + j];
            a[i][j] = (double)four->gram[i][j];
            trace += i == j ? a[i][j] : 0;
        }
    four->is_dead = !(trace > 0);
    for (size_t i = 0; i < FOUR; i++)
        a[i][i] += RIDGE * trace / FOUR;
    if (!four->is_dead)
        invert(a, four->inverse);
}

/* l: rows of `stride`, of a triangle. With d what is wanted more than the weights, one by one,
 * targets less weights are z = d - (what later ones of the four take of it). */
static void read_back(const float *l, size_t stride, float back[FOUR][FOUR])
{
    for (size_t j = 0; j < FOUR; j++)
        for (size_t i = FOUR; i-- > 0;) {
            float sum = i == j;
            for (size_t k = i + 1; k < FOUR; k++)
                sum -= l[k * stride + i] / l[i * stride + i] * back[k][j];
            back[i][j] = sum;
        }
}

static void read_fed(const float *l, size_t stride, struct by_gguf_fed *fed)
{
    float form[FOUR * FOUR];
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < FOUR; j++) {
            float sum = 0;
            for (size_t k = 0; k < FOUR; k++)
                sum += l[i * stride + k] * l[j * stride + k];
            form[i * FOUR + j] = sum;
        }
    read_four(form, FOUR, &fed->form);
    read_back(l, stride, fed->back);
}

static int read_factor(struct by_gguf_solving *s, size_t together, struct by_pool *pool,
                       struct baryon_error *err)
{
    struct by_gptq_way way = by_gptq_factor_way(s->problem->factor);
    float l[2 * FOUR * 2 * FOUR];
    size_t column;
    way.together = together;
    s->fed = by_alloc_zero(s->problem->columns / FOUR, sizeof *s->fed, err);
    if (!s->fed ||
        by_gptq_factor_open(&s->factor, s->problem->gram, s->problem->columns, way, pool, err))
        return -1;
    for (size_t i = 0; by_gptq_factor_block(s->factor, i, &column, l); i++) {
        struct by_gguf_fed *fed = &s->fed[column / FOUR];
        for (size_t k = 0; k < together; k += FOUR)
            read_fed(l + k * together + k, together, &fed[k / FOUR]);
        for (size_t j = 0; together > FOUR && j < FOUR * FOUR; j++)
            fed->ways[j / FOUR][j % FOUR] =
                l[(FOUR + j / FOUR) * together + j % FOUR] / l[j % FOUR * together + j % FOUR];
    }
    return 0;
}

int by_gguf_fours_open(struct by_gguf_solving *solving, struct by_pool *pool,
                       struct baryon_error *err)
{
    const struct by_ggml_solve *p = solving->problem;
    const size_t together = solving->form->points()->even ? 2 * FOUR : FOUR;
    solving->fours = by_alloc(p->columns / FOUR, sizeof *solving->fours, err);
    for (size_t i = 0; solving->fours && i < p->columns; i += FOUR)
        read_four(p->gram + i * p->columns + i, p->columns, &solving->fours[i / FOUR]);
    return !solving->fours || (p->factor && read_factor(solving, together, pool, err)) ? -1 : 0;
}

void by_gguf_fours_close(struct by_gguf_solving *solving)
{
    by_free(solving->fours);
    by_free(solving->fed);
    by_gptq_factor_close(solving->factor);
}
