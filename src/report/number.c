/* Writes numbers with few digits. */
#include "report/number.h"

#include <math.h>
#include <stdio.h>

static void put_text(struct by_json *json, const char *key, const char *text, double value)
{
    if (isfinite(value))
        by_json_raw(json, key, text);
    else if (!key)
        by_json_null(json, NULL);
}

void by_number_json(struct by_json *json, const char *key, int digits, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, value);
    put_text(json, key, text, value);
}

void by_decibels_json(struct by_json *json, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.2f", fmin(fmax(value, -1e6), 1e6));
    put_text(json, key, text, value);
}
