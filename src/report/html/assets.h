/*
 * The files of assets/, which are part of the program.
 */
#ifndef BY_REPORT_ASSETS_H
#define BY_REPORT_ASSETS_H

#include <stddef.h>

struct by_asset {
    const char *text; /* not ended by NUL */
    size_t size;
};

enum by_asset_place { BY_ASSET_PAGE, BY_ASSET_STYLE, BY_ASSET_SCRIPT };

/* The parts of the page that go to one place, in their order. */
size_t by_asset_count(enum by_asset_place place);
struct by_asset by_asset_at(enum by_asset_place place, size_t index);

#endif
