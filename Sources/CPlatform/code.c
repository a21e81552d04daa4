#define _GNU_SOURCE
#include "cplatform_helper.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// linux/mman.h since Linux 5.14, and younger than some C libraries' headers.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/// For dl_iterate_phdr(3): one object that is loaded, the program itself without a name.
static int map_object(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    const char *const *name = data;
    while (*name != NULL && strstr(object->dlpi_name, *name) == NULL) name++;
    if (*name == NULL && *object->dlpi_name != '\0') return 0;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
        uintptr_t start = (uintptr_t)object->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        start &= ~(page - 1);
        (void)madvise((void *)start, end - start, MADV_POPULATE_READ);
    }
    return 0;
}

void signet_map_code(void) {
    // What else libfprint needs, cryptography and mounts among it, is not for looking at a finger.
    static const char *const names[] = {"/libfprint-", "/libgusb.", "/libgio-", "/libgobject-", "/libglib-", "/libm.", NULL};
    (void)dl_iterate_phdr(map_object, (void *)names);
}
