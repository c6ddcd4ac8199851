/* Declares the report of `baryon evaluate`, as text and as JSON. */
#ifndef BY_EVALUATE_VIEW_H
#define BY_EVALUATE_VIEW_H

#include "cli/out.h"
#include "evaluate/evaluate.h"

/* The eight lines that Quark's tool prints: mean and worst of cosine, l2, psnr and ssim. */
void by_evaluation_lines(const struct by_evaluation *evaluation, struct by_out *out);
/* A table of all scores. */
int by_evaluation_text(const struct by_evaluation *evaluation, struct by_out *out,
                       struct baryon_error *err);

#endif
