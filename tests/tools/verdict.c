/*
 * Checks many models in one process, for the tests that compare verdicts.
 *
 *   verdict < list        lines "PATH"
 *
 * Prints a line for each: "PATH<tab>ok", or "PATH<tab>RULE<tab>message" of the first
 * error; RULE is "load" when the file was refused before it was checked.
 */
#include "onnx/check.h"

#include <stdio.h>
#include <string.h>

struct first_error {
    char rule[64];
};

static bool note(void *context, const struct by_finding *finding)
{
    struct first_error *first = context;
    if (finding->severity != BY_FINDING_ERROR)
        return true;
    snprintf(first->rule, sizeof first->rule, "%s", finding->rule);
    return false;
}

static int judge(const char *path, struct first_error *first, struct baryon_error *err)
{
    struct baryon_model *model;
    if (by_model_load(&model, path, NULL, err))
        return -1;
    int result = by_model_check(model, NULL, note, first, err);
    by_model_free(model);
    return result;
}

int main(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        struct first_error first = {"load"};
        struct baryon_error err;
        char text[2048];
        line[strcspn(line, "\n")] = '\0';
        if (judge(line, &first, &err)) {
            baryon_error_format(&err, text, sizeof text);
            printf("%s\t%s\t%s\n", line, first.rule, text);
        } else {
            printf("%s\tok\n", line);
        }
        fflush(stdout);
    }
    return 0;
}
