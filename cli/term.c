/* Handles signals, closed streams and the abilities of the terminal. */
#include "cli/term.h"

#include "base/file.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_signal;
static volatile sig_atomic_t patient;
static struct by_session *volatile running;

static void say(const char *text, size_t size)
{
    ssize_t written = write(STDERR_FILENO, text, size);
    (void)written;
}

static void on_stop(int number)
{
    static const char text[] = "baryon: stopping; a second signal stops at once\n";
    if (!patient || stop_signal) {
        by_writer_end();
        _exit(128 + number);
    }
    stop_signal = number;
    say(text, sizeof text - 1);
    if (running)
        by_session_cancel(running);
}

static void on_bus_error(int number)
{
    static const char text[] = "baryon: a file was truncated while it was read; run again when no "
                               "other program writes to it\n";
    (void)number;
    say(text, sizeof text - 1);
    by_writer_end();
    _exit(baryon_code_exit(BARYON_ERR_CHANGED));
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

/* Also for SIGHUP, unless nohup wants it ignored. */
static void handle_stops(void)
{
    struct sigaction old;
    handle(SIGINT, on_stop);
    handle(SIGTERM, on_stop);
    if (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        handle(SIGHUP, on_stop);
}

/* A file opened as descriptor 0, 1 or 2 would be read and written by mistake. */
static void fill_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            _exit(1);
}

void by_term_start(void)
{
    fill_standard_streams();
    handle_stops();
    handle(SIGBUS, on_bus_error);
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN); /* writing over the limit of a file's size fails instead */
}

void by_term_patient(struct by_session *session)
{
    running = session;
    patient = 1;
}

void by_term_impatient(void)
{
    patient = 0;
    running = NULL;
}

int by_term_stopping(void)
{
    return stop_signal;
}

void by_term_broken_pipe(void)
{
    by_writer_end();
    handle(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
    _exit(128 + SIGPIPE);
}

bool by_term_is_tty(int fd)
{
    return isatty(fd) == 1;
}

/* NULL when it is empty too. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

bool by_term_color(int fd)
{
    const char *term = getenv("TERM"), *force = variable("CLICOLOR_FORCE");
    if (variable("NO_COLOR"))
        return false;
    if (force && strcmp(force, "0") != 0)
        return true;
    return by_term_is_tty(fd) && term && strcmp(term, "dumb") != 0;
}

bool by_term_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = variable(names[i]);
        if (locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

unsigned by_term_columns(int fd)
{
    struct winsize size;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
        return size.ws_col;
    return 80;
}

double by_term_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}
