// libFuzzer's custom mutator for the targets that decode problems: half of the mutations are libFuzzer's own.
#include "fuzz/support/mutator.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t largest);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t largest,
                                               unsigned seed) {
  if (seed % 2 != 0) return LLVMFuzzerMutate(data, size, largest);
  return attest::fuzz::mutate({data, largest}, size, seed);
}
