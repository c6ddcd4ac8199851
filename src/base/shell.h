/* Runs a command of the user's in a shell, and takes what it prints. */
#ifndef BY_SHELL_H
#define BY_SHELL_H

#include "base/str.h"

struct by_shell_options {
    double seconds;              /* then it is killed with all that it started; 0: no limit */
    bool (*stop)(void *context); /* asked now and then; true: the same. May be NULL */
    void *context;
};

struct by_shell_result {
    struct by_str out; /* its standard output, the last 64 KiB at least */
    int status;        /* exit status; 128 and the signal that ended it */
    bool timed_out, stopped;
};

/* Standard input is empty, standard error that of the process. Fails where the command cannot be
 * started; whatever comes out, the result is released. */
int by_shell_run(const char *command, const struct by_shell_options *options,
                 struct by_shell_result *result, struct baryon_error *err);
void by_shell_release(struct by_shell_result *result);
/* Appends a text as one word of a shell. */
void by_shell_word(struct by_str *out, const char *text);

#endif
