/* Lays out tables for the terminal and shortens columns that do not fit. */
#include "cli/out.h"

#include <string.h>

#define GAP            2
#define FLEXIBLE_LEAST 12

void by_table_init(struct by_table *table, struct by_out *out)
{
    *table = (struct by_table){.out = out};
    by_arena_init(&table->arena, 0);
    by_str_init(&table->text);
}

void by_table_column(struct by_table *table, const char *heading, enum by_align align,
                     enum by_style style)
{
    table->columns[table->column_count++] =
        (struct by_column){.heading = heading, .align = align, .style = style};
}

void by_table_flexible(struct by_table *table)
{
    table->columns[table->column_count - 1].flexible = true;
}

void by_table_least(struct by_table *table, size_t least)
{
    table->columns[table->column_count - 1].least = least;
}

void by_table_cell(struct by_table *table, const char *format, ...)
{
    if (by_list_reserve(&table->arena, &table->cells, 1, sizeof *table->cells.at, NULL) < 0) {
        table->failed = true;
        return;
    }
    struct by_str raw;
    by_str_init(&raw);
    va_list args;
    va_start(args, format);
    by_str_vprintf(&raw, format, args);
    va_end(args);
    size_t start = table->text.size;
    by_clean(&table->text, by_str_text(&raw));
    table->failed |= raw.failed;
    by_str_release(&raw);
    table->cells.at[table->cells.count++] = (struct by_cell){start, table->text.size - start};
}

void by_table_count(struct by_table *table, uint64_t count)
{
    char text[32];
    by_table_cell(table, "%s", by_count_text(count, text, sizeof text));
}

void by_table_bytes(struct by_table *table, uint64_t bytes)
{
    char text[32];
    by_table_cell(table, "%s", by_bytes_text(bytes, text, sizeof text));
}

static size_t next_column(const struct by_table *table, size_t column)
{
    return column + 1 < table->column_count ? column + 1 : 0;
}

static void measure_columns(const struct by_table *table, size_t widths[BY_TABLE_COLUMNS_MAX])
{
    for (size_t c = 0; c < table->column_count; c++) {
        size_t heading = strlen(table->columns[c].heading), least = table->columns[c].least;
        widths[c] = heading > least ? heading : least;
    }
    for (size_t i = 0, c = 0; i < table->cells.count; i++, c = next_column(table, c)) {
        const struct by_cell *cell = &table->cells.at[i];
        size_t width = by_text_width(by_str_text(&table->text) + cell->start, cell->size);
        if (width > widths[c])
            widths[c] = width;
    }
}

static void shrink(const struct by_table *table, unsigned indent,
                   size_t widths[BY_TABLE_COLUMNS_MAX])
{
    size_t total = indent;
    for (size_t c = 0; c < table->column_count; c++)
        total += widths[c] + (c ? GAP : 0);
    if (!table->out->columns || total <= table->out->columns)
        return;
    size_t over = total - table->out->columns;
    for (size_t c = 0; c < table->column_count; c++) {
        if (!table->columns[c].flexible)
            continue;
        size_t room = widths[c] > FLEXIBLE_LEAST ? widths[c] - FLEXIBLE_LEAST : 0;
        size_t less = room < over ? room : over;
        widths[c] -= less;
        over -= less;
    }
}

/* Bytes of the first `width` characters. */
static size_t prefix_bytes(const char *text, size_t size, size_t width)
{
    size_t i = 0;
    while (i < size && (width || ((unsigned char)text[i] & 0xc0) == 0x80)) {
        width -= ((unsigned char)text[i] & 0xc0) != 0x80;
        i++;
    }
    return i;
}

/* The text, a part left out when it is wider than the column: names differ more at the end. */
static void add_text(struct by_str *line, const char *text, size_t size, size_t width, bool utf8)
{
    size_t wanted = by_text_width(text, size);
    if (wanted <= width) {
        by_str_add(line, text, size);
        return;
    }
    size_t dots = utf8 ? 1 : 2, head = (width - dots) / 4, tail = width - dots - head;
    size_t end = prefix_bytes(text, size, wanted - tail);
    by_str_add(line, text, prefix_bytes(text, size, head));
    by_str_puts(line, utf8 ? "\u2026" : "..");
    by_str_add(line, text + end, size - end);
}

static void blanks(struct by_str *str, size_t count)
{
    while (count--)
        by_str_add(str, " ", 1);
}

static void print_cell(struct by_table *table, size_t column, size_t width, enum by_style style,
                       const char *text, size_t size)
{
    struct by_out *out = table->out;
    bool right = table->columns[column].align == BY_RIGHT;
    bool last = column + 1 == table->column_count;
    size_t shown = by_text_width(text, size);
    size_t fill = shown < width ? width - shown : 0;
    struct by_str cut;
    by_str_init(&cut);
    add_text(&cut, text, size, width, out->utf8);
    blanks(&out->text, right ? fill : 0);
    if (cut.size)
        by_out_printf(out, style, "%s", by_str_text(&cut));
    blanks(&out->text, right || last ? 0 : fill);
    table->failed |= cut.failed;
    by_str_release(&cut);
    if (!last)
        blanks(&out->text, GAP);
}

/* Blanks at the end of a line help nobody. */
static void end_line(struct by_out *out)
{
    struct by_str *text = &out->text;
    while (!text->failed && text->size && text->text[text->size - 1] == ' ')
        text->text[--text->size] = '\0';
    by_str_puts(text, "\n");
}

static bool has_headings(const struct by_table *table)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (*table->columns[c].heading)
            return true;
    return false;
}

int by_table_print(struct by_table *table, unsigned indent, struct baryon_error *err)
{
    size_t widths[BY_TABLE_COLUMNS_MAX] = {0};
    measure_columns(table, widths);
    shrink(table, indent, widths);
    if (has_headings(table)) {
        blanks(&table->out->text, indent);
        for (size_t c = 0; c < table->column_count; c++)
            print_cell(table, c, widths[c], c ? BY_DIM : BY_BOLD, table->columns[c].heading,
                       strlen(table->columns[c].heading));
        end_line(table->out);
    }
    for (size_t i = 0, c = 0; i < table->cells.count; i++, c = next_column(table, c)) {
        const struct by_cell *cell = &table->cells.at[i];
        if (c == 0)
            blanks(&table->out->text, indent);
        print_cell(table, c, widths[c], table->columns[c].style,
                   by_str_text(&table->text) + cell->start, cell->size);
        if (c + 1 == table->column_count)
            end_line(table->out);
    }
    bool failed = table->failed || table->text.failed || table->out->text.failed;
    by_str_release(&table->text);
    by_arena_release(&table->arena);
    return failed ? by_err_nomem(err, 0) : 0;
}
