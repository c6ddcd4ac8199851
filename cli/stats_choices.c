/* Lists the ranges that the calibration methods choose for a tensor. */
#include "cli/stats_view.h"

int by_choices_make(const struct by_sketch *sketch, const struct by_calib_type *type,
                    struct by_calib_choice **made, size_t *count, struct baryon_error *err)
{
    size_t methods;
    const struct by_calibrator *const *all = by_calibrators(&methods);
    int status = 0;
    *count = 0;
    *made = by_alloc(methods, sizeof **made, err);
    if (!*made)
        return -1;
    for (size_t i = 0; i < methods && status == 0; i++)
        if (by_calib_suits(all[i], type) && !by_calib_lacks_votes(sketch, &type->target, all[i]))
            status = by_calib_choose(sketch, type, all[i], NULL, &(*made)[(*count)++], err);
    if (status)
        by_free(*made);
    return status;
}

const char *by_choice_left_out(const struct by_sketch *sketch, const struct by_calib_type *type)
{
    size_t methods;
    const struct by_calibrator *const *all = by_calibrators(&methods);
    for (size_t i = 0; i < methods; i++)
        if (by_calib_suits(all[i], type) && by_calib_lacks_votes(sketch, &type->target, all[i]))
            return all[i]->name;
    return NULL;
}
