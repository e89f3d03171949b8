// SPDX-License-Identifier: Apache-2.0
//
// The interface of a fuzz target. Each target's .cc file defines two functions in its anonymous namespace, and names
// itself:
//   std::vector<Bytes> Seeds() { return {mailbox::EncodeCatalog(…)}; }
//   int RunInput(const uint8_t* data, size_t size) {
//     const auto catalog = mailbox::DecodeCatalog({data, size});
//     if (catalog.ok()) FUZZ_CHECK(…);
//     return 0;
//   }
//   FUZZ_TARGET(catalog_fuzz);
#ifndef SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_
#define SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "proto/base/bytes.h"

// A property that must hold for every input.
#define FUZZ_CHECK(condition)                                                      \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

namespace sideband::fuzz {

struct FuzzTarget {
  const char* name;
  // Runs the code under test on one input. A violated property ends the program. Returns 0.
  int (*run)(const uint8_t* data, size_t size);
  // The initial inputs, made by the code that writes the format, so that they are never out of date.
  std::vector<Bytes> (*seeds)();
};

// The targets that are linked into this program.
inline std::vector<FuzzTarget>& Targets() {
  static std::vector<FuzzTarget>& targets = *new std::vector<FuzzTarget>;
  return targets;
}

#define FUZZ_TARGET(name)                         \
  [[maybe_unused]] const bool is_##name##_known = \
      (::sideband::fuzz::Targets().push_back({#name, RunInput, Seeds}), true)

// Parts of seeds: text, and an input whose first byte selects what reads the rest.
inline Bytes BytesOf(const std::string& text) { return Bytes(text.begin(), text.end()); }
inline Bytes WithFirst(uint8_t first, ByteSpan rest) {
  Bytes bytes = {first};
  bytes.insert(bytes.end(), rest.begin(), rest.end());
  return bytes;
}

}  // namespace sideband::fuzz

#endif  // SIDEBAND_TESTS_FUZZ_FUZZ_TARGET_H_
