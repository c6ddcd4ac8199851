/*
 * Boxes of a detector, found by the shapes and values of its outputs:
 *
 *   rows      one output [1, 4 + C, N]: centre, size, and a score for each of C classes
 *   columns   one output [1, N, 5 + C]: the same, a score of the box before those of the classes
 *   pair      [1, N, 4] or [N, 4] and scores [1, N, C], [N, C], [1, N] or [N]: corners, or centre
 *             and size where corners would be the wrong way round
 *   map       one output [1, 1, H, W] or [1, H, W]: regions of it (regions.h)
 *
 * N has to be more than the other axis, scores are from 0 to 1. Coordinates above 2 are pixels of
 * the input. Boxes of less than 0.25 are left out, and of those of a class that overlap by half all
 * but the best.
 */
#ifndef BY_REPORT_BOXES_H
#define BY_REPORT_BOXES_H

#include "array/array.h"
#include "base/json.h"

#define BY_BOXES_MOST 20

enum by_boxes_kind { BY_BOXES_NONE, BY_BOXES_ROWS, BY_BOXES_COLUMNS, BY_BOXES_PAIR, BY_BOXES_MAP };

/* Where they are; by the outputs of the float model, for all models. */
struct by_boxes_rule {
    enum by_boxes_kind kind;
    size_t boxes, scores; /* outputs */
    size_t count, classes;
    bool corners; /* of a pair */
    bool pixels;
};

struct by_box {
    double at[4]; /* left, top, right, bottom as shares of the picture's sides */
    size_t class;
    double score;
};

/* kind BY_BOXES_NONE: the model is no detector. width, height: of the input. */
int by_boxes_find(struct by_boxes_rule *rule, const struct by_array *outputs, size_t count,
                  size_t width, size_t height, struct baryon_error *err);
/* The best first, of a map the largest; at most BY_BOXES_MOST. */
int by_boxes_read(const struct by_boxes_rule *rule, const struct by_array *outputs, size_t width,
                  size_t height, struct by_box *boxes, size_t *count, struct baryon_error *err);
bool by_boxes_is_score(double value);
/* A member "boxes". */
void by_boxes_json(const struct by_boxes_rule *rule, const char *const *names,
                   const struct by_box *boxes, size_t count, struct by_json *json);

#endif
