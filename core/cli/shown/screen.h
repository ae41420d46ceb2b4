/* screen.h - the whole terminal, for a verb that draws it again and again and reads keys.
 *
 * The terminal is as it was before on every way out but SIGKILL: by screen_close, by the end of the
 * process, by a signal that ends or stops it, by a crash. There is one screen in a process. */
#pragma once

#include "base/error.h"
#include <stdbool.h>

/* What was typed; below KEY_OTHERS a byte. */
enum {
    KEY_ESCAPE = 27,
    KEY_ERASE = 127,
    KEY_OTHERS = 256,
    KEY_NONE, /* nothing in time, or the terminal has changed */
    KEY_UP,
    KEY_DOWN,
    KEY_END /* the terminal is gone */
};

/* True if standard input and output are a terminal that a screen can be drawn on. */
bool screen_possible(void);
/* Takes the terminal. False: it refuses. */
bool screen_open(struct error *error);
/* Gives it back; no effect if it is not taken. */
void screen_close(void);

void screen_size(int *rows, int *columns);
/* Shows the lines of a text from the top, as far as there are rows; `last` in the last row. No line
 * is wider than the terminal. */
void screen_draw(const char *text, const char *last);
/* Waits for a key at most so many ms. */
int screen_key(int wait);
