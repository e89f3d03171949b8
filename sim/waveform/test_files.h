// SPDX-License-Identifier: Apache-2.0
//
// Files for tests, in the directory that the test runner provides.
#ifndef SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
#define SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_

#include <string>

namespace sideband::sim {

// The path of a new file of this content; `name` ends it.
std::string WriteTestFile(const std::string& content, const std::string& name = "t.vcd");
// `content` as gzip.
std::string Gzipped(const std::string& content);

}  // namespace sideband::sim

#endif  // SIDEBAND_SIM_WAVEFORM_TEST_FILES_H_
