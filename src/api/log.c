/* Connects the log function of a caller of the public API to the library's log. */
#include "api/api.h"

static void pass(void *context, enum by_log_level level, const char *text)
{
    const struct by_api_log *log = context;
    (void)level;
    log->write(log->context, text);
}

void by_api_log_open(struct by_api_log *log, baryon_log_fn *write, void *context,
                     enum by_log_level level)
{
    *log = (struct by_api_log){.write = write, .context = context};
    if (write)
        log->log = (struct by_log){.write = pass, .context = log, .level = level};
}
