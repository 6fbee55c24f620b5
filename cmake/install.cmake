# cmake --install; then find_package(attest) gives attest::reference and attest::fast.
