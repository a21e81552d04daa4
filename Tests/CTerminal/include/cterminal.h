#ifndef SIGNET_CTERMINAL_H
#define SIGNET_CTERMINAL_H
// Pseudo-terminals and child processes for the end-to-end tests: what happens between fork and exec must be C.
#endif
