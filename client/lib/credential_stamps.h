// SPDX-License-Identifier: Apache-2.0
//
// Whether the files of the credentials were replaced or rewritten since they were read.
//   const FileStamps before = CredentialStamps(config);
//   const auto channel = Connect(config);
//   if (CredentialStamps(config) != before) ConnectAgain();
#ifndef SIDEBAND_CLIENT_LIB_CREDENTIAL_STAMPS_H_
#define SIDEBAND_CLIENT_LIB_CREDENTIAL_STAMPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "client/lib/config.h"

namespace sideband::client {

// Device, inode, size and time of change of each file, behind links; zeros for one that is not there.
using FileStamps = std::vector<std::array<int64_t, 4>>;

// Of the files that the configuration names: certificates, key and token. To be taken before they are read: what
// changes meanwhile is then seen as a change.
FileStamps CredentialStamps(const ClientConfig& config);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_CREDENTIAL_STAMPS_H_
