// SPDX-License-Identifier: Apache-2.0
#include "tests/lab/rtl/program_file.h"

#include <cstdlib>
#include <fstream>

namespace sideband::rtl {

std::vector<uint32_t> ReadProgram(const std::string& name) {
  std::ifstream file(std::string(std::getenv("TEST_SRCDIR")) + "/sideband/tests/lab/rtl/programs/" + name + ".hex");
  std::vector<uint32_t> words;
  for (uint32_t word; file >> std::hex >> word;) words.push_back(word);
  return words;
}

}  // namespace sideband::rtl
