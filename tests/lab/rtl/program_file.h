// SPDX-License-Identifier: Apache-2.0
//
// The words of the programs in programs/, made by programs/assemble.py.
//   const std::vector<uint32_t> words = ReadProgram("sieve");
#ifndef SIDEBAND_TESTS_LAB_RTL_PROGRAM_FILE_H_
#define SIDEBAND_TESTS_LAB_RTL_PROGRAM_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sideband::rtl {

// Of the program `name`, which is among the data of the test; empty if it is not.
std::vector<uint32_t> ReadProgram(const std::string& name);

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_LAB_RTL_PROGRAM_FILE_H_
