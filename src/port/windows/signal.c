/* Gives the handlers of signals what the console and the memory manager have to say. */
#include "port/windows/inside.h"

static void (*volatile handlers[32])(int);

/* --- Holding: the console's events come in a thread of their own, which waits --- */

static CRITICAL_SECTION turn;
static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
static _Thread_local by_win_sigset held;

static BOOL CALLBACK make_turn(INIT_ONCE *state, void *parameter, void **context)
{
    (void)state, (void)parameter, (void)context;
    InitializeCriticalSection(&turn);
    return TRUE;
}

static by_win_sigset bit(int number)
{
    return (by_win_sigset)1 << number;
}

int by_win_sigmask(int how, const by_win_sigset *set, by_win_sigset *before)
{
    (void)how;
    InitOnceExecuteOnce(&once, make_turn, NULL, NULL);
    if (before)
        *before = held;
    if (!set)
        return 0;
    const bool was = held & bit(SIGINT), is = *set & bit(SIGINT);
    held = *set;
    if (is && !was)
        EnterCriticalSection(&turn);
    else if (was && !is)
        LeaveCriticalSection(&turn);
    return 0;
}

int sigemptyset(by_win_sigset *set)
{
    *set = 0;
    return 0;
}

int sigfillset(by_win_sigset *set)
{
    *set = ~(by_win_sigset)0;
    return 0;
}

int sigaddset(by_win_sigset *set, int number)
{
    *set |= bit(number);
    return 0;
}

int sigdelset(by_win_sigset *set, int number)
{
    *set &= ~bit(number);
    return 0;
}

/* --- Events --- */

static bool calls(int number)
{
    void (*handler)(int) = handlers[number];
    if (handler == SIG_DFL || handler == SIG_IGN)
        return handler == SIG_IGN;
    EnterCriticalSection(&turn);
    handler(number);
    LeaveCriticalSection(&turn);
    return true;
}

/* A window that is closed takes the process with it as soon as this returns. */
static BOOL WINAPI on_console_event(DWORD event)
{
    const bool handled = calls(event == CTRL_C_EVENT ? SIGINT : SIGTERM);
    if (event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT || event == CTRL_SHUTDOWN_EVENT)
        Sleep(INFINITE);
    return handled;
}

/* A page of a mapped file could not be read: it is on a share or disk that went away. */
static LONG CALLBACK on_exception(EXCEPTION_POINTERS *info)
{
    if (info->ExceptionRecord->ExceptionCode == EXCEPTION_IN_PAGE_ERROR && handlers[SIGBUS])
        handlers[SIGBUS](SIGBUS);
    return EXCEPTION_CONTINUE_SEARCH;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    InitOnceExecuteOnce(&once, make_turn, NULL, NULL);
    if (before)
        *before = (struct sigaction){.sa_handler = handlers[number]};
    if (!action)
        return 0;
    const bool first = !handlers[number];
    handlers[number] = action->sa_handler;
    if (number == SIGINT && first)
        SetConsoleCtrlHandler(on_console_event, TRUE);
    if (number == SIGBUS && first)
        AddVectoredExceptionHandler(0, on_exception);
    return 0;
}

int by_win_raise(int number)
{
    (void)calls(number);
    return 0;
}
