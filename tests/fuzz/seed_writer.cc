// SPDX-License-Identifier: Apache-2.0
//
// Before libFuzzer reads its corpus, writes the target's seeds into the folder that SIDEBAND_FUZZ_SEEDS names.
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/fuzz/fuzz_target.h"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("SIDEBAND_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  size_t number = 0;
  for (const sideband::Bytes& seed : sideband::fuzz::Seeds()) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary);
    file.write(reinterpret_cast<const char*>(seed.data()), static_cast<std::streamsize>(seed.size()));
  }
  return 0;
}
