/* One weight that a rotation changes. */
#ifndef BY_LLM_ROTATE_EDIT_H
#define BY_LLM_ROTATE_EDIT_H

#include "llm/rotate.h"
#include "solve/rotation.h"

#include <pthread.h>

/* The last weight whose rows were mixed, all of it: a row needs all others. */
struct by_llm_rotate_cache {
    pthread_mutex_t lock;
    const struct by_llm_edit *of; /* NULL: none */
    float *values;
};

void by_llm_rotate_cache_open(struct by_llm_rotate_cache *cache);
void by_llm_rotate_cache_close(struct by_llm_rotate_cache *cache);

/* W becomes rows' W diag(gains) columns; what lies before first_row and first_column stays, after
 * them the matrices repeat. */
struct by_llm_rotate_edit {
    struct by_llm_edit edit; /* the first member */
    struct by_llm_rotate_cache *cache;
    const float *gains;                       /* NULL: 1 */
    const struct by_rotation *rows, *columns; /* NULL: none */
    size_t first_row, first_column;
    bool constant; /* all elements are `value` instead */
    float value;
};

void by_llm_rotate_edit_open(struct by_llm_rotate_edit *edit, struct by_llm_rotate_cache *cache);

#endif
