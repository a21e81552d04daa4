#ifndef SIGNET_MEDIAN_H
#define SIGNET_MEDIAN_H
// Times and their median, for the measuring programs.
#include <stdlib.h>
#include <time.h>

static inline double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static inline int median_order(const void *one, const void *other) {
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

/// The median; sorts the values.
static inline double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, median_order);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
