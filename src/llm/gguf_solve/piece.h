/* Some rows of a problem, in the form in which they are solved. */
#ifndef BY_LLM_GGUF_SOLVE_PIECE_H
#define BY_LLM_GGUF_SOLVE_PIECE_H

#include "base/blas.h"
#include "llm/ggml/parts.h"
#include "llm/gguf_solve/solve.h"

/* What all pieces share. */
struct by_gguf_solving {
    const struct by_ggml_solve *problem;
    const struct by_ggml_form *form;
    const struct by_blas *blas;
    size_t groups, blocks; /* of a row */
    size_t block_groups;   /* groups of a block */
    size_t row_bytes;
    float *importance; /* [columns] */
    float *sums;       /* [columns][groups]: of gram's rows, over the columns of a group */
    float *corners;    /* [groups][groups]: of sums, over the rows of a group */
    /* Of forms of points: [columns / 4], of gram, and of the factor. */
    struct by_gguf_four *fours;
    struct by_gguf_fed *fed;
    struct by_gptq_factor *factor; /* of fours, or eights; NULL: none */
};

struct by_gguf_piece {
    const struct by_gguf_solving *solving;
    size_t first, rows;
    const float *weights;    /* [rows][columns] */
    const float *pull;       /* [rows][columns]; NULL: 0 */
    float *values;           /* [rows][columns]: of blocks, less the weights */
    float *residual;         /* [rows][columns]: gram (values - weights) - pull, of blocks */
    float *tried;            /* [rows][columns]: the same of the trial */
    int32_t *integers;       /* [rows][columns] */
    float *scales, *offsets; /* [rows][groups]: as floats */
    int16_t *codes, *mins;   /* [rows][groups] */
    float *halves;           /* [rows][blocks][2] */
    uint8_t *trial;          /* [rows][row_bytes] */
    double *before;          /* [rows]: errors at the start */
};

/* Between blocks and arrays of the piece. */
void by_gguf_unpack(struct by_gguf_piece *piece, const uint8_t *blocks, size_t row);
void by_gguf_pack(const struct by_gguf_piece *piece, uint8_t *blocks, size_t row);
/* scales and offsets, of codes and halves. */
void by_gguf_multiply(struct by_gguf_piece *piece, size_t row);

/* Of blocks as they were encoded. */
void by_gguf_choose_powers(const struct by_gguf_piece *piece, uint8_t *blocks);

/* gram of four columns, and what takes slopes to a step that ends them. */
struct by_gguf_four {
    float gram[BY_POINT_VALUES][BY_POINT_VALUES], inverse[BY_POINT_VALUES][BY_POINT_VALUES];
    bool is_dead; /* samples say nothing about it */
};

/* What error feedback knows of four columns, once later ones make up for their errors. */
struct by_gguf_fed {
    struct by_gguf_four form;
    float back[BY_POINT_VALUES][BY_POINT_VALUES]; /* from wanted - weights to targets - weights */
    /* What errors of the four after it move, of an eight. */
    float ways[BY_POINT_VALUES][BY_POINT_VALUES];
};

int by_gguf_fours_open(struct by_gguf_solving *solving, struct by_pool *pool,
                       struct baryon_error *err);
void by_gguf_fours_close(struct by_gguf_solving *solving);
/* Points with error feedback, fours (or eights) one after the other. */
int by_gguf_feed_points(struct by_gguf_piece *piece, const struct by_descent *problem,
                        struct baryon_error *err);
/* Descent over the points of the integers; `tried` comes to be their residual. */
int by_gguf_descend_points(struct by_gguf_piece *piece, struct baryon_error *err);

/* gram values - pull of the rows. */
void by_gguf_find_residual(const struct by_gguf_piece *piece, float *residual);

/* Solves codes, minima and halves of the rows, with integers and residual given. */
int by_gguf_solve_scales(struct by_gguf_piece *piece, struct baryon_error *err);

/* One row's problem over scales s and minima m: value = s u - m in each group, u being the numbers
 * of the levels. */
struct by_gguf_normal {
    const struct by_ggml_form *form;
    size_t groups, block_groups;
    const float *ss;             /* [groups][groups]: u_g' gram u_h */
    const float *sm;             /* [groups][groups]: u_g' gram 1_h; NULL: no minima */
    const float *mm;             /* [groups][groups]: 1_g' gram 1_h */
    double *slopes_s, *slopes_m; /* [groups]: halves of the derivatives */
    int16_t *codes, *mins;
    float *halves;
};

/* Steps through codes and halves as they are stored. */
void by_gguf_descend_scales(struct by_gguf_normal *normal);

#endif
