// SPDX-License-Identifier: Apache-2.0
//
// Files for tests, in the test runner's temporary directory.
#ifndef SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
#define SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_

#include <string>

namespace sideband::sim {

// Writes a new file and returns its path, which ends in `name`.
std::string WriteTestFile(const std::string& content, const std::string& name = "t.vcd");
// `content` compressed with gzip.
std::string Gzipped(const std::string& content);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
