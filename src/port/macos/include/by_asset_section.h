/* For macOS: where constants go in the assembler. */
#ifndef BY_ASSET_SECTION_H
#define BY_ASSET_SECTION_H

#define BY_ASSET_BEGIN      ".pushsection __TEXT,__const\n"
#define BY_ASSET_HIDE(name) ".private_extern " name "\n"
#define BY_ASSET_END        ".popsection\n"

#endif
