#include "cplatform.h"

void signet_syslog(int priority, const char *line) { syslog(priority, "%s", line); }
