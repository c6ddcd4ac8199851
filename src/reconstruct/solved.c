/* Says in a sentence what rounding reconstruction came to. */
#include "base/str.h"
#include "reconstruct/reconstruct.h"

size_t by_solved_kept(const struct by_solved *solved)
{
    size_t kept = 0;
    for (size_t i = 0; solved->kept && i < solved->count; i++)
        kept += solved->layers[i].kept;
    return kept;
}

void by_solved_say(const struct by_solved *solved, struct by_str *text)
{
    if (!solved->count)
        return;
    by_str_printf(text, "rounding reconstruction %s",
                  solved->from_statistics ? "from statistics of " : "on ");
    by_plural(text, solved->train, "sample");
    if (solved->from_statistics)
        by_str_puts(text, ", layers solved on the float model's inputs");
    by_str_printf(text, ": %.2f dB%s on ", solved->after,
                  solved->from_statistics ? " at layer outputs in the mean" : "");
    if (solved->aside)
        by_plural(text, solved->judging, "held-out sample");
    else
        by_str_puts(text, "the same samples");
    by_str_printf(text, ", nearest rounding %.2f dB", solved->before);
    if (!solved->kept && solved->after > solved->before)
        by_str_puts(text, ", within one standard error");
    else if (solved->kept && solved->after <= solved->before)
        by_str_puts(text, ", better in the mean over samples");
    if (!solved->kept)
        by_str_puts(text, "; all weights keep nearest rounding");
}
