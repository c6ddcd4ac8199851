/* Puts the files of assets/ into the program; the Makefile has the rule that they are part of it.
 */
#include "report/html/assets.h"

/* Other systems than those with ELF say it in a header of src/port. */
#if __has_include(<by_asset_section.h>)
#include <by_asset_section.h>
#else
#define BY_ASSET_BEGIN      ".pushsection .rodata\n"
#define BY_ASSET_HIDE(name) ".hidden " name "\n"
#define BY_ASSET_END        ".popsection\n"
#endif

/* One row a file: ASSET(place, symbol, file), in the order in which they stand in the page. */
#define ASSETS                                                                                     \
    ASSET(BY_ASSET_PAGE, report_html, "report.html")                                               \
    ASSET(BY_ASSET_STYLE, report_css, "report.css")                                                \
    ASSET(BY_ASSET_SCRIPT, text_js, "text.js")                                                     \
    ASSET(BY_ASSET_SCRIPT, draw_js, "draw.js")                                                     \
    ASSET(BY_ASSET_SCRIPT, search_js, "search.js")                                                 \
    ASSET(BY_ASSET_SCRIPT, strip_js, "strip.js")                                                   \
    ASSET(BY_ASSET_SCRIPT, histogram_js, "histogram.js")                                           \
    ASSET(BY_ASSET_SCRIPT, columns_js, "columns.js")                                               \
    ASSET(BY_ASSET_SCRIPT, details_js, "details.js")                                               \
    ASSET(BY_ASSET_SCRIPT, linears_js, "linears.js")                                               \
    ASSET(BY_ASSET_SCRIPT, table_js, "table.js")                                                   \
    ASSET(BY_ASSET_SCRIPT, pictures_js, "pictures.js")                                             \
    ASSET(BY_ASSET_SCRIPT, samples_js, "samples.js")                                               \
    ASSET(BY_ASSET_SCRIPT, report_js, "report.js")

#define ASSET(place, name, file)                                                                   \
    extern const char by_asset_##name[] __asm__("by_asset_" #name),                                \
        by_asset_##name##_end[] __asm__("by_asset_" #name "_end");                                 \
    __asm__(BY_ASSET_BEGIN BY_ASSET_HIDE("by_asset_" #name)                                        \
                BY_ASSET_HIDE("by_asset_" #name "_end") ".globl by_asset_" #name "\n"              \
                                                        ".globl by_asset_" #name "_end\n"          \
                                                        "by_asset_" #name ":\n"                    \
                                                        ".incbin \"src/report/html/assets/" file   \
                                                        "\"\n"                                     \
                                                        "by_asset_" #name "_end:\n"                \
                                                        ".byte 0\n" BY_ASSET_END);
ASSETS
#undef ASSET

static const struct row {
    enum by_asset_place place;
    const char *begin, *end;
} rows[] = {
#define ASSET(place, name, file) {place, by_asset_##name, by_asset_##name##_end},
    ASSETS
#undef ASSET
};

size_t by_asset_count(enum by_asset_place place)
{
    size_t count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        count += rows[i].place == place;
    return count;
}

struct by_asset by_asset_at(enum by_asset_place place, size_t index)
{
    const struct row *row = rows;
    while (row->place != place || index--)
        row++;
    return (struct by_asset){row->begin, (size_t)(row->end - row->begin)};
}
