/* For Windows: where constants go in the assembler. */
#ifndef BY_ASSET_SECTION_H
#define BY_ASSET_SECTION_H

#define BY_ASSET_BEGIN      ".section .rdata,\"dr\"\n"
#define BY_ASSET_HIDE(name) ""
#define BY_ASSET_END        ".text\n"

#endif
