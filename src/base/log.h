/*
 * Notices from the library go to a function of the caller's; without one they
 * are dropped. The library itself prints nothing.
 */
#ifndef BY_LOG_H
#define BY_LOG_H

#include "baryon.h"

enum by_log_level { BY_LOG_DEBUG, BY_LOG_INFO, BY_LOG_NOTICE, BY_LOG_WARNING };

typedef void by_log_fn(void *context, enum by_log_level level, const char *text);

struct by_log {
    by_log_fn *write; /* NULL: drop */
    void *context;
    enum by_log_level level; /* lower ones are dropped */
};

/* log may be NULL. Texts longer than 1 KiB are cut. */
void by_log(const struct by_log *log, enum by_log_level level, const char *format, ...)
    BARYON_PRINTF(3, 4);
/* Each line of a text. */
void by_log_lines(const struct by_log *log, enum by_log_level level, const char *text);

#endif
