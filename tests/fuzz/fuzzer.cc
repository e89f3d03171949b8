// SPDX-License-Identifier: Apache-2.0
//
// The entry points of libFuzzer, for the program's only target. Before the corpus is read, the target's seeds are
// written into the folder that SIDEBAND_FUZZ_SEEDS names.
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("SIDEBAND_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  size_t number = 0;
  for (const sideband::Bytes& seed : sideband::fuzz::Targets().front().seeds()) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return sideband::fuzz::Targets().front().run(data, size);
}
