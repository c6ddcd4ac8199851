/*
 * Prints docs/quark-options.md: every option of Quark by its own name, and what becomes of it.
 */
#include "settings/quark/alias.h"

#include <stdio.h>
#include <string.h>

/* "?cle=auto;hardware=none" as `--cle auto`, `--hardware none`. */
static void print_sets(const char *what)
{
    const char *separator = "";
    while (what && *what) {
        const size_t length = strcspn(what, ";"), named = strcspn(what, "=");
        const size_t weak = *what == '?';
        printf("%s`--%.*s %.*s`", separator, (int)(named - weak), what + weak,
               (int)(length - named - 1), what + named + 1);
        separator = ", ";
        what += length + (what[length] == ';');
    }
}

static void print_flag(const struct by_alias *row)
{
    print_sets(row->on);
    if (!row->on)
        printf("nothing has to be set for true");
    if (row->off) {
        printf("; false: ");
        print_sets(row->off);
    }
}

static void print_words(const struct by_alias_word *word)
{
    for (const char *separator = ""; word->word; word++, separator = ", ")
        printf("%s`%s`", separator, word->word);
}

static void print_action(const struct by_alias *row)
{
    if (row->kind == BY_ALIAS_FLAG)
        print_flag(row);
    else if (row->kind == BY_ALIAS_VALUE)
        printf("`--%s`", row->on);
    else if (row->kind == BY_ALIAS_WORDS)
        print_words(row->words);
    else if (row->kind == BY_ALIAS_FIXED)
        printf("only %s is available", row->on);
    else if (row->kind == BY_ALIAS_LATER)
        printf("not available yet");
    else if (row->kind == BY_ALIAS_IDLE || row->kind == BY_ALIAS_NEVER)
        printf("%s", row->on);
}

static const char *state_of(enum by_alias_kind kind)
{
    return kind == BY_ALIAS_IDLE                              ? "no effect"
           : kind == BY_ALIAS_LATER || kind == BY_ALIAS_NEVER ? "refused"
                                                              : "acted on";
}

/* Reasons follow "no effect," in notices. */
static const char *without_as(const char *why)
{
    if (!why)
        return "";
    return strncmp(why, "as ", 3) == 0 ? why + 3 : why;
}

static void print_keys(const char *option)
{
    struct by_alias_key key;
    for (size_t i = 0; by_alias_key(option, i, &key); i++) {
        printf("| `%s`: `%s` | %s | ", option, key.name, key.idle ? "no effect" : "acted on");
        if (key.only)
            printf("only %s is available: ", key.only);
        printf("%s |\n", without_as(key.why));
    }
}

int main(void)
{
    size_t count;
    const struct by_alias *rows = by_aliases(&count);
    printf("# Options of Quark\n\n"
           "What becomes of each option of AMD Quark's ONNX flow, as a key of a configuration "
           "file, as `--extra NAME=VALUE` and in Python. This page is made from the rows of "
           "`src/settings/quark/rows.c`.\n\n"
           "- **acted on**: sets the options in the last column, or takes the values there.\n"
           "- **no effect**: the model would be the same; a notice gives the reason.\n"
           "- **refused**: an error gives the reason. False, None and empty values ask for "
           "nothing and are accepted.\n\n"
           "| option | state | what is set, or the reason |\n|---|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        printf("| `%s` | %s | ", rows[i].name, state_of(rows[i].kind));
        print_action(&rows[i]);
        printf(" |\n");
        print_keys(rows[i].name);
    }
    return 0;
}
