int zero(void) { return 0; }
