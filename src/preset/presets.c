/* Lists the presets. To add one: a file with its literal, the row here. */
#include "preset/presets.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

static const struct by_preset *const presets[] = {
    &by_preset_xint8,
    &by_preset_vint8,
    &by_preset_a8w8,
    &by_preset_a16w8,
    &by_preset_s8s8_aaws,
    &by_preset_u8s8_aaws,
    &by_preset_u8u8_aawa,
    &by_preset_s16s8_asws,
    &by_preset_u16s8_aaws,
    &by_preset_int8_cnn,
    &by_preset_int16_cnn,
    &by_preset_int8_transformer,
    &by_preset_int16_transformer,
    &by_preset_uint8_dynamic,
    &by_preset_matmul_nbits,
    &by_preset_s16s16_mixed,
    &by_preset_fp16,
    &by_preset_bf16,
    &by_preset_bfp16,
    &by_preset_mx4,
    &by_preset_mx6,
    &by_preset_mx9,
    &by_preset_mxfp8_e5m2,
    &by_preset_mxfp8_e4m3,
    &by_preset_mxfp6_e3m2,
    &by_preset_mxfp6_e2m3,
    &by_preset_mxfp4_e2m1,
    &by_preset_mxint8,
    &by_preset_bf16_bfp16,
    &by_preset_bf16_mxint8,
    &by_preset_mx9_int8,
    &by_preset_bf16_mixed_bfp16,
    &by_preset_bf16_mixed_mxint8,
    &by_preset_xint8_adaround,
    &by_preset_a8w8_adaround,
    &by_preset_a16w8_adaround,
    &by_preset_s8s8_aaws_adaround,
    &by_preset_u8s8_aaws_adaround,
    &by_preset_s16s8_asws_adaround,
    &by_preset_u16s8_aaws_adaround,
    &by_preset_xint8_adaquant,
    &by_preset_a8w8_adaquant,
    &by_preset_a16w8_adaquant,
    &by_preset_s8s8_aaws_adaquant,
    &by_preset_u8s8_aaws_adaquant,
    &by_preset_s16s8_asws_adaquant,
    &by_preset_u16s8_aaws_adaquant,
    &by_preset_fp16_adaquant,
    &by_preset_bf16_adaquant,
    &by_preset_bfp16_adaquant,
    &by_preset_mx4_adaquant,
    &by_preset_mx6_adaquant,
    &by_preset_mx9_adaquant,
    &by_preset_mxfp8_e5m2_adaquant,
    &by_preset_mxfp8_e4m3_adaquant,
    &by_preset_mxfp6_e3m2_adaquant,
    &by_preset_mxfp6_e2m3_adaquant,
    &by_preset_mxfp4_e2m1_adaquant,
    &by_preset_mxint8_adaquant,
    &by_preset_bf16_mixed_bfp16_adaquant,
    &by_preset_bf16_mixed_mxint8_adaquant,
    &by_preset_int8_cnn_accurate,
    &by_preset_int16_cnn_accurate,
    &by_preset_int8_transformer_accurate,
    &by_preset_int16_transformer_accurate,
};

#define COUNT    (sizeof presets / sizeof *presets)
#define NAME_MAX 64

const struct by_preset *const *by_presets(size_t *count)
{
    *count = COUNT;
    return presets;
}

/* Upper case, _ for -, without _CONFIG. */
static void plain_name(char out[NAME_MAX], const char *name)
{
    size_t used = 0;
    for (; *name && used + 1 < NAME_MAX; name++)
        out[used++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
    out[used] = '\0';
    if (used > 7 && !strcmp(out + used - 7, "_CONFIG"))
        out[used - 7] = '\0';
}

const struct by_preset *by_preset_find(const char *name, struct baryon_error *err)
{
    char plain[NAME_MAX], quoted[BY_QUOTE_MAX];
    const char *names[COUNT];
    plain_name(plain, name);
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(presets[i]->name, plain))
            return presets[i];
        names[i] = presets[i]->name;
    }
    by_fail(err, BARYON_ERR_USAGE, "unknown preset %s", by_quote(quoted, name));
    const char *near = by_nearest(plain, names, COUNT);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    else
        by_err_hint(err, "'baryon presets' lists them");
    return NULL;
}
