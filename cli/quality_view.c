/* Prints the quality of a written model, as text or JSON. */
#include "cli/quality_view.h"

#include "cli/help.h"

#include <string.h>

#define PAGE_WIDTH 79

/* A line's continuation stands after its own indent. */
static void print_line(struct by_out *out, const char *line, size_t size)
{
    struct by_str text;
    const unsigned indent = 2 + (unsigned)strspn(line, " ");
    by_str_init(&text);
    by_str_add(&text, line + indent - 2, size - (indent - 2));
    by_str_printf(&out->text, "%*s", (int)indent, "");
    by_wrap(&out->text, by_str_text(&text), indent, indent, PAGE_WIDTH);
    by_str_puts(&out->text, "\n");
    out->text.failed |= text.failed;
    by_str_release(&text);
}

void by_quality_view(const struct by_quality *quality, struct by_out *out)
{
    struct by_str text;
    if (!quality->asked)
        return;
    by_str_init(&text);
    by_quality_text(quality, &text);
    for (const char *line = by_str_text(&text); *line;) {
        const size_t size = strcspn(line, "\n");
        print_line(out, line, size);
        line += size + 1;
    }
    out->text.failed |= text.failed;
    by_str_release(&text);
}
