/* Passes by the names that files have: one row a name. */
#ifndef BY_CONVERT_ROWS_H
#define BY_CONVERT_ROWS_H

#include "convert/convert.h"

struct by_converting {
    struct by_convert *convert;
    struct by_convert_step *step;
    bool on; /* the parameter that switches the pass on was true */
};

struct by_convert_param {
    const char *name;
    int (*take)(struct by_converting *at, const struct by_doc_node *value,
                struct baryon_error *err);
};

#define BY_CONVERT_PARAMS_MAX 12

struct by_convert_row {
    const char *name;
    const char *const *passes; /* ours that do it, ends with NULL; NULL: it is not done here */
    by_convert_work *work;     /* what does it that is no pass */
    const char *instead;       /* where both are NULL: what to do */
    const char *help; /* of ours with work: one sentence, no full stop; NULL: it is not listed */
    const char *peer; /* of those the name that Quark has; NULL: none */
    /* Without its first parameter, which has to be true, such a pass does nothing. */
    bool switched;
    struct by_convert_param params[BY_CONVERT_PARAMS_MAX];
};

const struct by_convert_row *by_convert_rows(size_t *count);
/* Ours may be written with _ for -; NULL: none. */
const struct by_convert_row *by_convert_row_find(const char *name);
/* Those that are listed beside passes: they work on the model as it is, and are no part of
 * quantization. */
const struct by_convert_row *by_convert_listed(size_t index); /* NULL: no more */

#endif
