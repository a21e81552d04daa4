// What is tried, and what is to come of it.
enum expectation {
    WORKS,
    REFUSED,
    /// The kernel ends the process (SIGSYS).
    FATAL,
    /// Depends on the machine, and is not tried.
    UNDECIDED,
    CONFUSED,
};

struct attempt {
    const char *name;
    /// With the filter of system calls, and without.
    enum expectation filtered, unfiltered;
    /// Below 0: refused.
    long (*run)(void);
};

/// Ends with a name of NULL.
extern const struct attempt attempts[];

/// Makes a folder in /tmp for the next try.
void name_files(void);

/// Opens, as root, what the try needs; the helper has its socket and its device by then.
void open_files(void);

/// Removes the folder.
void clean_up(void);
