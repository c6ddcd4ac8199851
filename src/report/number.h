/* Numbers of a report: as many digits as help a reader. A key without a number is left out. */
#ifndef BY_REPORT_NUMBER_H
#define BY_REPORT_NUMBER_H

#include "base/json.h"

/* So many significant digits; what is not finite is null in a list. */
void by_number_json(struct by_json *json, const char *key, int digits, double value);
/* Two decimals. */
void by_decibels_json(struct by_json *json, const char *key, double value);

#endif
