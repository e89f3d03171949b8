// SPDX-License-Identifier: Apache-2.0
//
// The words of a program (programs/NAME.hex, made by programs/assemble.py).
//   SIDEBAND_ASSIGN_OR_RETURN(const std::vector<uint32_t> words, ReadProgram(path));
#ifndef SIDEBAND_TESTS_RTL_PROGRAM_FILE_H_
#define SIDEBAND_TESTS_RTL_PROGRAM_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace sideband::rtl {

// A word in hexadecimal digits on each line. Empty if the file cannot be read.
std::vector<uint32_t> ReadProgram(const std::string& path);

}  // namespace sideband::rtl

#endif  // SIDEBAND_TESTS_RTL_PROGRAM_FILE_H_
