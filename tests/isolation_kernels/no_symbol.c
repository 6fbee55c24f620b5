/* Defect: a library that exports something else. */
int unrelated(void);
int unrelated(void) { return 1; }
