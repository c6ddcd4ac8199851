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
    /* Without its first parameter, which has to be true, such a pass does nothing. */
    bool switched;
    struct by_convert_param params[BY_CONVERT_PARAMS_MAX];
};

const struct by_convert_row *by_convert_rows(size_t *count);

#endif
