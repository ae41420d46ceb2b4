#include "cli/shown/screen.h"
#include "base/text.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* The other screen of the terminal, without a cursor; and back. */
#define TAKE "\033[?1049h\033[?25l"
#define GIVE "\033[0m\033[?25h\033[?1049l"
#define REST_OF_LINE "\033[K"
#define REST_OF_SCREEN "\033[J"

static struct termios before;
static volatile sig_atomic_t taken;

/* Signals that end the process, and that stop it. */
static const int ending[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGSEGV,
                             SIGABRT, SIGBUS,  SIGFPE, SIGILL};
enum { ENDING = sizeof ending / sizeof *ending, ASKED = 4 /* of them from outside */ };
static struct sigaction other_actions[ENDING];

static void put(const char *text, size_t size) {
    while (size > 0) {
        ssize_t wrote = write(STDOUT_FILENO, text, size);
        if (wrote < 0 && errno != EINTR)
            return; /* the terminal is gone: reading says so */
        text += wrote > 0 ? wrote : 0;
        size -= wrote > 0 ? (size_t)wrote : 0;
    }
}

/* ---- what a signal may call, too ---- */

static void take(void) {
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    taken = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    put(TAKE, sizeof TAKE - 1);
}

static void give(void) {
    if (!taken)
        return;
    taken = 0;
    put(GIVE, sizeof GIVE - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* What the signal did before ends the process: it comes again. A fault does so by itself, with what
 * the system tells of it. */
static void on_end(int number, siginfo_t *info, void *context) {
    bool faults = info->si_code > 0;
    (void)context;
    give();
    for (int i = 0; i < ENDING; i++)
        if (ending[i] == number) {
            sigaction(number, &other_actions[i], NULL);
            if (i < ASKED || !faults)
                raise(number);
        }
}

static void on_stop(int number) {
    int error = errno;
    (void)number;
    give();
    raise(SIGSTOP); /* goes on below once it is continued */
    take();
    errno = error;
}

static void on_change(int number) {
    (void)number; /* the wait for keys ends */
}

static void signals_set(void) {
    struct sigaction end = {.sa_sigaction = on_end, .sa_flags = SA_SIGINFO},
                     stop = {.sa_handler = on_stop}, change = {.sa_handler = on_change};
    for (int i = 0; i < ENDING; i++)
        sigaction(ending[i], &end, &other_actions[i]);
    sigaction(SIGTSTP, &stop, NULL);
    sigaction(SIGWINCH, &change, NULL);
    sigaction(SIGCONT, &change, NULL);
}

static void signals_reset(void) {
    static const int ours[] = {SIGTSTP, SIGWINCH, SIGCONT};
    for (int i = 0; i < ENDING; i++)
        sigaction(ending[i], &other_actions[i], NULL);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        signal(ours[i], SIG_DFL);
}

/* ---- taking it ---- */

bool screen_possible(void) {
    const char *term = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0;
}

bool screen_open(struct error *error) {
    static bool registered;
    if (tcgetattr(STDIN_FILENO, &before) != 0)
        return error_set(error, ERROR_IO, "terminal: %s", strerror(errno));
    if (!registered)
        registered = atexit(screen_close) == 0;
    signals_set();
    take();
    return true;
}

void screen_close(void) {
    if (!taken)
        return;
    give();
    signals_reset();
}

void screen_size(int *rows, int *columns) {
    struct winsize size = {0};
    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
    *rows = size.ws_row > 0 ? size.ws_row : 24;
    *columns = size.ws_col > 0 ? size.ws_col : 80;
}

/* ---- drawing ---- */

void screen_draw(const char *text, const char *last) {
    int rows, columns;
    struct text frame = {0};
    screen_size(&rows, &columns);
    text_add(&frame, "\033[H");
    for (int row = 1; row < rows && *text; row++) {
        int size = (int)strcspn(text, "\n");
        text_add(&frame, "%.*s" REST_OF_LINE "\r\n", size, text);
        text += size + (text[size] == '\n');
    }
    text_add(&frame, REST_OF_SCREEN "\033[%d;1H%s" REST_OF_LINE, rows, last);
    if (!frame.failed)
        put(frame.data, frame.size);
    text_clear(&frame);
}

/* ---- keys ---- */

static unsigned char typed[64];
static size_t typed_count;

static void consume(size_t count) {
    typed_count -= count;
    memmove(typed, typed + count, typed_count);
}

/* Arrows are "ESC [ A" or "ESC O A". Other keys of several bytes do nothing. */
static int sequence_take(void) {
    size_t size = 2;
    while (size < typed_count && (typed[size] < 0x40 || typed[size] > 0x7e))
        size++;
    int letter = size < typed_count ? typed[size] : 0;
    consume(size < typed_count ? size + 1 : size);
    if (letter == 'A')
        return KEY_UP;
    return letter == 'B' ? KEY_DOWN : KEY_NONE;
}

static int key_take(void) {
    if (typed_count >= 2 && typed[0] == KEY_ESCAPE && (typed[1] == '[' || typed[1] == 'O'))
        return sequence_take();
    int key = typed[0];
    consume(1);
    return key == '\b' ? KEY_ERASE : key;
}

int screen_key(int wait) {
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (typed_count > 0)
        return key_take();
    if (poll(&input, 1, wait) <= 0)
        return KEY_NONE;
    ssize_t size = read(STDIN_FILENO, typed, sizeof typed);
    if (size < 0 && errno == EINTR)
        return KEY_NONE;
    if (size <= 0)
        return KEY_END;
    typed_count = (size_t)size;
    return key_take();
}
