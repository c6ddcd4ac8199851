/*
 * Standard output: collected, styled and written at once when a command is done, so
 * that a command that fails leaves either its result or nothing there.
 *
 * Texts that come from files are cleaned: what acts on a terminal or turns the text
 * around, and bytes that are not UTF-8, stand as \xNN, so that a name in a model cannot
 * speak to the terminal.
 */
#ifndef BY_OUT_H
#define BY_OUT_H

#include "base/str.h"

enum by_style { BY_PLAIN, BY_BOLD, BY_DIM, BY_RED, BY_GREEN, BY_YELLOW, BY_CYAN };

struct by_out {
    struct by_str text;
    bool color, utf8;
    unsigned columns; /* 0: as wide as it gets, nothing is shortened */
};

void by_out_init(struct by_out *out);
void by_out_release(struct by_out *out);
void by_out_printf(struct by_out *out, enum by_style style, const char *format, ...)
    BARYON_PRINTF(3, 4);
/* Writes what was collected; a reader that went away ends the program quietly. */
int by_out_flush(struct by_out *out, struct baryon_error *err);
/* All bytes to a descriptor. */
int by_write_all(int fd, const char *bytes, size_t size, struct baryon_error *err);

/* Appends text from a file. */
void by_clean_bytes(struct by_str *str, const void *text, size_t size);
void by_clean(struct by_str *str, const char *text);
/* Characters that a cleaned text takes on the screen. */
size_t by_text_width(const char *text, size_t size);

/* "13.4 MiB"; returns buf. */
const char *by_bytes_text(uint64_t bytes, char *buf, size_t size);

/*
 * A table: columns, then cells row by row. Columns are as wide as their widest cell;
 * on a terminal that is too narrow, flexible columns are shortened inside.
 */
#define BY_TABLE_COLUMNS_MAX 12

enum by_align { BY_LEFT, BY_RIGHT };

struct by_column {
    const char *heading; /* "" leaves it out */
    enum by_align align;
    enum by_style style;
    bool flexible;
    size_t least; /* characters */
};

struct by_cell {
    size_t start, size; /* in the table's text */
};

struct by_table {
    struct by_out *out;
    struct by_column columns[BY_TABLE_COLUMNS_MAX];
    size_t column_count;
    struct by_arena arena;
    struct by_str text;
    struct {
        struct by_cell *at;
        size_t count, cap;
    } cells;
    bool failed;
};

void by_table_init(struct by_table *table, struct by_out *out);
void by_table_column(struct by_table *table, const char *heading, enum by_align align,
                     enum by_style style);
/* The last column added may be shortened; it is at least so wide. */
void by_table_flexible(struct by_table *table);
void by_table_least(struct by_table *table, size_t least);
void by_table_cell(struct by_table *table, const char *format, ...) BARYON_PRINTF(2, 3);
void by_table_count(struct by_table *table, uint64_t count);
void by_table_bytes(struct by_table *table, uint64_t bytes);
/* Prints the rows, each after `indent` blanks, and releases the table. */
int by_table_print(struct by_table *table, unsigned indent, struct baryon_error *err);

#endif
