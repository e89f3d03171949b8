// SPDX-License-Identifier: Apache-2.0
//
// The interface of a fuzz target. Each target's .cc file defines both functions:
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     const auto catalog = mailbox::DecodeCatalog({data, size});
//     if (catalog.ok()) FUZZ_CHECK(…);
//     return 0;
//   }
//   std::vector<Bytes> sideband::fuzz::Seeds() { return {mailbox::EncodeCatalog(…)}; }
#ifndef SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_
#define SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "proto/base/bytes.h"

// Runs the code under test on one input. A violated property ends the program. Returns 0.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// A property that must hold for every input.
#define FUZZ_CHECK(condition)                                                      \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace sideband::fuzz {

// The initial inputs, made by the code that writes the format, so that they are never out of date.
std::vector<Bytes> Seeds();

// Parts of seeds: text, and an input whose first byte selects what reads the rest.
inline Bytes BytesOf(const std::string& text) { return Bytes(text.begin(), text.end()); }
inline Bytes WithFirst(uint8_t first, ByteSpan rest) {
  Bytes bytes = {first};
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

}  // namespace sideband::fuzz

#endif  // SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_
