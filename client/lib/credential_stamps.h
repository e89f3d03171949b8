// SPDX-License-Identifier: Apache-2.0
//
// Whether files were replaced or rewritten since they were read.
//   const FileStamps before = StampsOf({"client.pem", "client.key"});
//   if (StampsOf({"client.pem", "client.key"}) != before) ReadAgain();
#ifndef SIDEBAND_CLIENT_CPP_FILE_STAMPS_H_
#define SIDEBAND_CLIENT_CPP_FILE_STAMPS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sideband::library {

// Device, inode, size and time of change of each file, behind links; zeros for one that is not there.
using FileStamps = std::vector<std::array<int64_t, 4>>;

FileStamps StampsOf(const std::vector<std::string>& paths);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_FILE_STAMPS_H_
