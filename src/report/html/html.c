/* Fills the template of the page with the sections, the data, the style and the script. */
#include "report/html/html.h"

#include "base/file.h"
#include "base/sha256.h"
#include "report/html/assets.h"
#include "report/html/markup.h"
#include "report/html/sections.h"

#include <string.h>
#include <strings.h>

struct page {
    const struct by_doc_node *root;
    const char *json;
    size_t size;
    struct by_str *html;
};

/* --- Style and script --- */

static int join_assets(enum by_asset_place place, struct by_str *text, struct baryon_error *err)
{
    by_str_init(text);
    for (size_t i = 0; i < by_asset_count(place); i++) {
        struct by_asset asset = by_asset_at(place, i);
        by_str_add(text, asset.text, asset.size);
    }
    return by_str_error(text, err);
}

static void put_base64(struct by_str *html, const uint8_t *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16;
        three |= i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0;
        three |= i + 2 < size ? bytes[i + 2] : 0;
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        i + 1 < size ? digits[three >> 6 & 63] : '=',
                        i + 2 < size ? digits[three & 63] : '='};
        by_str_add(html, four, 4);
    }
}

/* How a policy names the text of an element: 'sha256-...'. */
static int put_hash(enum by_asset_place place, struct by_str *html, struct baryon_error *err)
{
    struct by_str text;
    uint8_t digest[32];
    int status = join_assets(place, &text, err);
    if (!status) {
        by_sha256((const uint8_t *)by_str_text(&text), text.size, digest);
        by_str_puts(html, "'sha256-");
        put_base64(html, digest, sizeof digest);
        by_str_puts(html, "'");
    }
    by_str_release(&text);
    return status;
}

static int put_assets(enum by_asset_place place, struct by_str *html, struct baryon_error *err)
{
    struct by_str text;
    int status = join_assets(place, &text, err);
    by_str_add(html, by_str_text(&text), text.size);
    by_str_release(&text);
    return status;
}

static int fill_style(const struct page *page, struct baryon_error *err)
{
    return put_assets(BY_ASSET_STYLE, page->html, err);
}

static int fill_script(const struct page *page, struct baryon_error *err)
{
    return put_assets(BY_ASSET_SCRIPT, page->html, err);
}

static int fill_style_hash(const struct page *page, struct baryon_error *err)
{
    return put_hash(BY_ASSET_STYLE, page->html, err);
}

static int fill_script_hash(const struct page *page, struct baryon_error *err)
{
    return put_hash(BY_ASSET_SCRIPT, page->html, err);
}

/* --- Content --- */

static int fill_title(const struct page *page, struct baryon_error *err)
{
    const char *model = by_report_text(page->root, "model");
    const char *slash = model ? strrchr(model, '/') : NULL;
    (void)err;
    if (model)
        by_html_text(page->html, slash && slash[1] ? slash + 1 : model);
    by_str_puts(page->html, model ? " \u00b7 baryon " : "baryon ");
    by_html_text(page->html, by_report_text(page->root, "command"));
    return 0;
}

static int fill_version(const struct page *page, struct baryon_error *err)
{
    (void)err;
    by_html_text(page->html, by_report_text(page->root, "version"));
    return 0;
}

static int fill_head(const struct page *page, struct baryon_error *err)
{
    (void)err;
    by_section_head(page->root, page->html);
    return 0;
}

static int fill_nav(const struct page *page, struct baryon_error *err)
{
    size_t count;
    const struct by_section *sections = by_sections(&count);
    bool some = false;
    (void)err;
    for (size_t i = 0; i < count; i++) {
        if (!sections[i].has(page->root))
            continue;
        by_str_puts(page->html, some ? "" : "<nav aria-label=\"Sections\">\n<ul>\n");
        by_str_printf(page->html, "<li><a href=\"#%s\">%s</a></li>\n", sections[i].id,
                      sections[i].title);
        some = true;
    }
    by_str_puts(page->html, some ? "</ul>\n</nav>\n" : "");
    return 0;
}

static int fill_sections(const struct page *page, struct baryon_error *err)
{
    size_t count;
    const struct by_section *sections = by_sections(&count);
    (void)err;
    for (size_t i = 0; i < count; i++) {
        if (!sections[i].has(page->root))
            continue;
        by_str_printf(page->html, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n",
                      sections[i].id, sections[i].id);
        by_str_printf(page->html, "<h2 id=\"%s-title\">%s</h2>\n", sections[i].id,
                      sections[i].title);
        sections[i].write(page->root, page->html);
        by_str_puts(page->html, "</section>\n\n");
    }
    return 0;
}

static int fill_data(const struct page *page, struct baryon_error *err)
{
    (void)err;
    by_html_json(page->html, page->json, page->size);
    return 0;
}

static const struct place {
    const char *name; /* in the template between braces */
    int (*fill)(const struct page *page, struct baryon_error *err);
} places[] = {
    {"title", fill_title},       {"version", fill_version},
    {"head", fill_head},         {"nav", fill_nav},
    {"sections", fill_sections}, {"data", fill_data},
    {"style", fill_style},       {"style-hash", fill_style_hash},
    {"script", fill_script},     {"script-hash", fill_script_hash},
};

static int fill_place(const struct page *page, const char *name, size_t size,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (strlen(places[i].name) == size && !memcmp(places[i].name, name, size))
            return places[i].fill(page, err);
    return by_fail(err, BARYON_ERR_INTERNAL,
                   "the template has a place {{%.*s}}, which nothing fills", (int)size, name);
}

/* Only the template is searched for places, never what fills them. */
static int fill_page(const struct page *page, struct baryon_error *err)
{
    struct by_asset template = by_asset_at(BY_ASSET_PAGE, 0);
    const char *at = template.text, *end = at + template.size, *open, *close;
    while ((open = memmem(at, (size_t)(end - at), "{{", 2)) &&
           (close = memmem(open, (size_t)(end - open), "}}", 2))) {
        by_str_add(page->html, at, (size_t)(open - at));
        if (fill_place(page, open + 2, (size_t)(close - open) - 2, err))
            return -1;
        at = close + 2;
    }
    by_str_add(page->html, at, (size_t)(end - at));
    return by_str_error(page->html, err);
}

int by_report_html(const char *json, size_t size, struct by_str *html, struct baryon_error *err)
{
    struct by_arena arena;
    struct by_doc_node *root;
    struct by_doc_limits limits = {BY_REPORT_BYTES_MAX, BY_REPORT_NODES_MAX};
    by_arena_init(&arena, 0);
    int status = by_json_parse_within(&arena, json, size, "", limits, &root, err);
    if (!status)
        status = by_report_check(root, err);
    if (!status)
        status = fill_page(&(struct page){root, json, size, html}, err);
    by_arena_release(&arena);
    return status;
}

/* --- The file --- */

static bool is_page(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && (!strcasecmp(end, ".html") || !strcasecmp(end, ".htm"));
}

static int save_page(const char *path, const struct by_str *json, unsigned flags,
                     struct baryon_error *err)
{
    struct by_str html;
    by_str_init(&html);
    int status = by_report_html(by_str_text(json), json->size, &html, err);
    if (status == 0)
        status = by_str_error(&html, err);
    if (status == 0)
        status = by_write_file(path, by_str_text(&html), html.size, flags, err);
    by_str_release(&html);
    return status;
}

int by_report_write(const char *path, const struct by_str *json, unsigned flags,
                    struct baryon_error *err)
{
    if (by_str_error(json, err) < 0)
        return -1;
    return is_page(path) ? save_page(path, json, flags, err)
                         : by_write_file(path, by_str_text(json), json->size, flags, err);
}
