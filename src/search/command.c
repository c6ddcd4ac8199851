/* Writes a candidate, runs the user's command on it and reads the number that it prints. */
#include "search/command.h"

#include "base/file.h"
#include "base/shell.h"
#include "onnx/save.h"

#include <math.h>
#include <string.h>

#define MODEL "{model}"

int by_auto_command_check(const char *text, struct baryon_error *err)
{
    if (strstr(text, MODEL))
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "--goal-command has no " MODEL ", which stands for the file of the candidate");
    return by_err_hint(err, "write it as in --goal-command './map.sh " MODEL "'");
}

static void put_command(const struct by_auto_command *command, struct by_str *out)
{
    const char *at = command->text;
    for (const char *mark; (mark = strstr(at, MODEL)); at = mark + strlen(MODEL)) {
        by_str_add(out, at, (size_t)(mark - at));
        by_shell_word(out, command->place);
    }
    by_str_puts(out, at);
}

/* "0.35 +- 0.01": the second number is the error of the first. */
static bool is_mark(const char *word)
{
    return !strcmp(word, "+-") || !strcmp(word, "+/-") || !strcmp(word, "\xc2\xb1");
}

/* The last word that is a number, and its error: 0 where none is said. */
static bool last_number(const char *text, struct by_auto_value *value)
{
    char word[64];
    bool found = false, marked = false;
    while (*text) {
        const size_t blanks = strspn(text, " \t\r\n,;:=[](){}");
        text += blanks;
        const size_t length = strcspn(text, " \t\r\n,;:=[](){}");
        double number;
        if (length && length < sizeof word) {
            memcpy(word, text, length);
            word[length] = '\0';
            if (by_parse_double(word, &number)) {
                if (marked && found)
                    value->error = fabs(number);
                else
                    *value = (struct by_auto_value){.value = number};
                found = true;
            }
            marked = is_mark(word);
        }
        text += length;
    }
    return found;
}

static int judge_result(const struct by_auto_command *command, const struct by_shell_result *result,
                        struct by_auto_value *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (result->stopped)
        return by_fail(err, BARYON_ERR_CANCELLED, "stopped while the goal command ran");
    if (result->timed_out) {
        by_fail(err, BARYON_ERR_INPUT, "the goal command took longer than %g s and was ended",
                command->seconds);
        return by_err_hint(err, "--goal-seconds gives it more time");
    }
    if (result->status) {
        by_fail(err, BARYON_ERR_INPUT, "the goal command failed with exit status %d",
                result->status);
        return by_err_hint(err, "run it by hand: %s", command->text);
    }
    if (!last_number(by_str_text(&result->out), value))
        return by_fail(err, BARYON_ERR_INPUT,
                       "the goal command printed no number, but %s; its last number is the value",
                       by_quote(quoted, by_str_text(&result->out)));
    const bool is_good = isfinite(value->value) && isfinite(value->error);
    return is_good ? 0
                   : by_fail(err, BARYON_ERR_INPUT,
                             "the goal command printed %g, must be a finite number",
                             isfinite(value->value) ? value->error : value->value);
}

static int run_command(const struct by_auto_command *command, struct by_auto_value *value,
                       struct baryon_error *err)
{
    const struct by_shell_options options = {
        .seconds = command->seconds, .stop = command->stop, .context = command->context};
    struct by_shell_result result = {0};
    struct by_str text;
    by_str_init(&text);
    put_command(command, &text);
    int status = by_str_error(&text, err);
    if (status == 0)
        status = by_shell_run(by_str_text(&text), &options, &result, err);
    if (status == 0)
        status = judge_result(command, &result, value, err);
    by_shell_release(&result);
    by_str_release(&text);
    return status;
}

int by_auto_command_value(const struct by_auto_command *command, struct baryon_model *model,
                          struct by_auto_value *value, struct baryon_error *err)
{
    const struct by_save_options options = {.data = BY_SAVE_INLINE,
                                            .writer_flags = BY_WRITER_NO_SYNC};
    if (by_model_save(model, command->place, &options, err) < 0)
        return -1;
    const int status = run_command(command, value, err);
    (void)by_remove_file(command->place, NULL);
    return status;
}
