// The main program of every test.
#define CATCH_CONFIG_MAIN
#include "tests/support/catch.hpp"
