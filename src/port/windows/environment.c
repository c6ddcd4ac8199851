/* Reads and sets variables of the environment, in UTF-8. */
#include "port/windows/inside.h"

/* What was asked for once: the answers stay, as callers of getenv() expect. */
struct answer {
    struct answer *next;
    const char *name;
    char *value;
};

static struct answer *answers;
static SRWLOCK answers_lock = SRWLOCK_INIT;

static char *variable_value(const char *name)
{
    wchar_t *wide = by_win_wide_text(name);
    const DWORD size = wide ? GetEnvironmentVariableW(wide, NULL, 0) : 0;
    wchar_t *value = size ? malloc(size * sizeof *value) : NULL;
    char *text = value ? malloc((size_t)size * 3 + 1) : NULL;
    if (text &&
        (GetEnvironmentVariableW(wide, value, size) >= size ||
         !WideCharToMultiByte(CP_UTF8, 0, value, -1, text, (int)(size * 3 + 1), NULL, NULL)))
        *text = '\0';
    free(value);
    free(wide);
    return text;
}

static struct answer *find_answer(const char *name, const char *value)
{
    struct answer *at = answers;
    while (at && (strcmp(at->name, name) != 0 || strcmp(at->value, value) != 0))
        at = at->next;
    return at;
}

char *by_win_getenv(const char *name)
{
    char *value = variable_value(name);
    if (!value)
        return NULL;
    AcquireSRWLockExclusive(&answers_lock);
    struct answer *answer = find_answer(name, value), *fresh = NULL;
    if (!answer && (fresh = malloc(sizeof *fresh))) {
        *fresh = (struct answer){.next = answers, .name = _strdup(name), .value = value};
        if (fresh->name)
            answers = answer = fresh;
        else
            free(fresh);
    }
    ReleaseSRWLockExclusive(&answers_lock);
    if (!answer || answer->value != value)
        free(value);
    return answer ? answer->value : NULL;
}

/* Libraries ask Windows or the run-time library: both know it afterwards. */
int setenv(const char *name, const char *value, int replace)
{
    if (!replace && by_win_getenv(name))
        return 0;
    wchar_t *wide_name = by_win_wide_text(name), *wide = by_win_wide_text(value);
    const bool done = wide_name && wide && _wputenv_s(wide_name, wide) == 0 &&
                      SetEnvironmentVariableW(wide_name, wide);
    free(wide_name);
    free(wide);
    return done ? 0 : -1;
}

int unsetenv(const char *name)
{
    wchar_t *wide = by_win_wide_text(name);
    const bool done = wide && _wputenv_s(wide, L"") == 0;
    free(wide);
    return done ? 0 : -1;
}
