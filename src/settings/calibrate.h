/*
 * The options of a calibration, for the command line and for the library, and what becomes of
 * them.
 */
#ifndef BY_SETTINGS_CALIBRATE_H
#define BY_SETTINGS_CALIBRATE_H

#include "calibrate/calibrate.h"
#include "settings/settings.h"

struct by_calibrate_settings {
    struct by_running_settings running;
    const char *out, *shard;
    int tensors;
    bool per_channel, moments, votes, restart, force;
    uint64_t max_memory;
    double checkpoint_seconds;
};

extern const struct by_option_group by_calibrate_group;

/* callback: where samples come from, instead of --data; NULL: as the settings say. Names,
 * checkpoint and progress are left to the caller. What options point to lives in the config. */
int by_calibrate_take(struct by_config *config, const struct by_calibrate_settings *settings,
                      const struct by_input_callback *callback, const struct by_log *log,
                      struct by_calibrate_options *options, struct baryon_error *err);

#endif
