/* Opens the list of decisions, and closes it with all that was made for it. */
#include "search/decision_internal.h"

int by_decisions_open(struct by_decisions *d, struct by_quantization *q,
                      const struct by_judge *judge, const struct by_target_ladder *ladder,
                      const struct by_decide_options *options, struct baryon_error *err)
{
    *d = (struct by_decisions){.q = q, .judge = judge, .ladder = ladder};
    by_arena_init(&d->arena, 0);
    d->work = BY_ARENA_NEW(&d->arena, struct by_decide_work, err);
    if (!d->work || by_judge_require_floats(judge, err) < 0)
        return -1;
    if (options)
        d->work->options = *options;
    for (size_t i = 0; i < BY_DECISION_OUTPUTS; i++)
        d->scale[i] = 1;
    return by_decide_list(d, err) < 0 ? -1 : by_decide_costs(d, err);
}

void by_decisions_close(struct by_decisions *d)
{
    if (d->work) {
        by_decide_parts_close(d->work);
        by_switches_close(d->work->switches);
        by_decide_noise_close(&d->work->noise);
        by_stats_close(d->work->observed);
        by_frame_release(&d->work->solved);
    }
    by_arena_release(&d->arena);
    *d = (struct by_decisions){.q = NULL};
}
