/* The public interface: presets. */
#include "settings/recipe/preset.h"
#include "api/need.h"

struct baryon_preset {
    struct by_preset_view view;
    struct baryon_setting *ours, *theirs;
};

static struct baryon_setting *return_preset_settings(struct by_arena *arena,
                                                     const struct by_preset_rows *rows,
                                                     struct baryon_error *err)
{
    struct baryon_setting *out = by_arena_alloc(arena, rows->count, sizeof *out, err);
    for (size_t i = 0; out && i < rows->count; i++)
        out[i] = (struct baryon_setting){rows->at[i].name, rows->at[i].value};
    return out;
}

int baryon_preset_open(struct baryon_preset **out, const char *name, struct baryon_error *err)
{
    if (BY_NEED(out, err) || BY_NEED(name, err))
        return -1;
    struct baryon_error own;
    err = err ? err : &own;
    *out = NULL;
    struct baryon_preset *preset = by_alloc_zero(1, sizeof *preset, err);
    if (!preset)
        return -1;
    struct by_preset_view *view = &preset->view;
    if (by_preset_view_open(view, name, err) < 0) {
        by_free(preset);
        return -1;
    }
    preset->ours = return_preset_settings(&view->config.arena, &view->ours, err);
    preset->theirs =
        preset->ours ? return_preset_settings(&view->config.arena, &view->theirs, err) : NULL;
    if (!preset->theirs) {
        baryon_preset_free(preset);
        return -1;
    }
    *out = preset;
    return 0;
}

void baryon_preset_free(struct baryon_preset *preset)
{
    if (!preset)
        return;
    by_preset_view_close(&preset->view);
    by_free(preset);
}

const struct baryon_setting *baryon_preset_setting(const struct baryon_preset *preset, size_t place)
{
    return preset && place < preset->view.ours.count ? &preset->ours[place] : NULL;
}

const struct baryon_setting *baryon_preset_quark(const struct baryon_preset *preset, size_t place)
{
    return preset && place < preset->view.theirs.count ? &preset->theirs[place] : NULL;
}
