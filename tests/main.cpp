// The main program of every test.
#define CATCH_CONFIG_MAIN
#include "tests/catch.hpp"
