/*
 * The process and its surroundings: signals, closed streams, what the terminal can do.
 *
 * SIGINT, SIGTERM and SIGHUP: temporary files are removed and the program ends with
 * 130, 143 or 129. A command that has work to keep asks to be told instead (by_term_patient());
 * then the first signal only sets a flag, and the second ends the program. A file
 * that shrinks while it is mapped (SIGBUS) ends it with a message and 3. A closed
 * pipe ends it without one.
 */
#ifndef BY_TERM_H
#define BY_TERM_H

#include "engine/session.h"

/* Once, before anything is opened. */
void by_term_start(void);
/* From here on the first signal sets the flag; a session's run in progress is cancelled. */
void by_term_patient(struct by_session *session);
/* From here on a signal ends the program again; one that came before is not looked at any more. */
void by_term_impatient(void);
/* 0, or the signal that asked to stop. */
int by_term_stopping(void);
/* As if SIGPIPE had its usual effect. */
_Noreturn void by_term_broken_pipe(void);

bool by_term_is_tty(int fd);
/* NO_COLOR, CLICOLOR_FORCE, TERM=dumb and whether fd is a terminal. */
bool by_term_color(int fd);
/* The locale's text is UTF-8, going by the environment. */
bool by_term_utf8(void);
/* Columns of the terminal of fd, 80 when it is none. */
unsigned by_term_columns(int fd);
/* Seconds on a clock that does not jump. */
double by_term_seconds(void);

#endif
