// Nothing but its precompiled headers, which the tests share (tests/CMakeLists.txt).
int main() {}
