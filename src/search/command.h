/* The number that a command of the user's prints about a model. */
#ifndef BY_AUTO_COMMAND_H
#define BY_AUTO_COMMAND_H

#include "ir/model.h"

struct by_auto_command {
    const char *text;            /* "./map.sh {model}" */
    const char *place;           /* where models are written for it, and removed again */
    double seconds;              /* then it is killed, and the search fails */
    bool (*stop)(void *context); /* may be NULL */
    void *context;
};

/* error: of "VALUE +- ERROR"; 0: none was printed. */
struct by_auto_value {
    double value, error;
};

/* Refuses a text without {model}. */
int by_auto_command_check(const char *text, struct baryon_error *err);
/* Writes the model, runs the command in a shell and reads the last number of what it prints. One
 * that fails, prints no number or takes too long is an error. */
int by_auto_command_value(const struct by_auto_command *command, struct baryon_model *model,
                          struct by_auto_value *value, struct baryon_error *err);

#endif
