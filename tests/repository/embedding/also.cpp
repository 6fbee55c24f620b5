int also() { return 1; }
