#ifndef SIGNET_CPLATFORM_REGISTERS_H
#define SIGNET_CPLATFORM_REGISTERS_H

/// Empties the vector registers that a callee may change.
///
/// Cryptography leaves its last words there. They are part of a core image, and the kernel writes them to the stack for every
/// signal handler, as the dynamic linker does for every function that it looks up late.
void signet_clear_registers(void);

#endif
