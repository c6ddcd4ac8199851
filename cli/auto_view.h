/* Declares the text of `baryon auto`. */
#ifndef BY_AUTO_VIEW_H
#define BY_AUTO_VIEW_H

#include "cli/out.h"
#include "search/auto.h"

struct by_auto_written {
    const char *model, *data, *out, *config;
    uint64_t bytes, bytes_before;
};

/* Goals, samples, the table of steps, what was written. */
int by_auto_text(const struct by_auto *search, const struct by_auto_written *written,
                 struct by_out *out, struct baryon_error *err);

#endif
