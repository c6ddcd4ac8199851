/*
 * The command line of one command, by getopt_long from the option rows.
 *
 * Options and operands may be mixed; "--" ends the options; long names may be cut
 * as long as one option is meant; a flag takes "=false" to undo what a configuration
 * file says. What is given twice counts the last time, lists add up.
 */
#ifndef BY_OPT_H
#define BY_OPT_H

#include "config/config.h"

struct by_operands {
    const char **at; /* from the config's arena */
    size_t count;
    bool stopped; /* --help or --version was met: nothing after it was looked at */
};

/*
 * argv[0] is the command. Reads the file of --config too. Options whose names are
 * "help" and "version" stop the parsing.
 */
int by_opt_parse(struct by_config *config, int argc, char *const *argv,
                 struct by_operands *operands, struct baryon_error *err);
/* Names the option whose value is wrong as the place of an error; returns -1. */
int by_err_option(struct baryon_error *err, const char *name);
/* True when --json stands among the options, for errors met before they are known. */
bool by_opt_wants_json(int argc, char *const *argv);

#endif
