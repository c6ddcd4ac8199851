/* Climbs the target's rungs until the goals are met. */
#include "search/auto_internal.h"

static int rung_config(const struct by_rung *rung, struct by_str *rest, struct baryon_error *err)
{
    for (const struct by_preset_value *row = rung->values; row->option; row++)
        by_str_printf(rest, "%s: %s\n", row->option, row->value);
    return by_str_error(rest, err);
}

static int try_rung(struct by_auto_work *work, const struct by_rung *rung, size_t *place,
                    struct baryon_error *err)
{
    struct by_str rest;
    by_str_init(&rest);
    int status = rung_config(rung, &rest, err);
    if (status == 0)
        status = by_auto_try(work, rung->name, rung->text, by_str_text(&rest), place, err);
    by_str_release(&rest);
    return status;
}

static bool is_done(const struct by_auto_work *work)
{
    const struct by_auto_point *best =
        work->best == BY_AUTO_NO_POINT ? NULL : &work->out->points.at[work->best];
    return best && ((best->met && best->allowed) || by_auto_is_over_time(work));
}

static int try_rungs(struct by_auto_work *work, enum by_rung_when when, struct baryon_error *err)
{
    size_t place;
    for (size_t i = 0; i < work->ladder.rung_count && !is_done(work); i++)
        if (work->ladder.rungs[i].when == when &&
            try_rung(work, &work->ladder.rungs[i], &place, err) < 0)
            return -1;
    return 0;
}

int by_auto_climb(struct by_auto_work *work, struct baryon_error *err)
{
    for (enum by_rung_when when = BY_RUNG_FIRST; when <= BY_RUNG_WIDE; when++)
        if (try_rungs(work, when, err) < 0)
            return -1;
    return 0;
}
