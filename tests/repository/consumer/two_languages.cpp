#include <attest/reference/real/outward.hpp>

extern "C" int zero(void);

int main() { return attest::reference::above(0.0) > 0 ? zero() : 1; }
