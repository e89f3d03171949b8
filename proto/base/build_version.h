// SPDX-License-Identifier: Apache-2.0
//
// The version that `--version` prints: the release, and the revision of the sources if the build was given one.
//   std::cout << "sidebandd " << BuildVersion() << "\n";  // "sidebandd 0.2.0 (7034ce0)", or "sidebandd 0.2.0"
#ifndef SIDEBAND_PROTO_BASE_BUILD_VERSION_H_
#define SIDEBAND_PROTO_BASE_BUILD_VERSION_H_

#include <string>

namespace sideband {

// "7034ce0"; empty in a build without a revision.
std::string BuildRevision();

// A build has a revision if Bazel's workspace status has STABLE_REVISION, as in `./dev package`.
std::string BuildVersion();

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_BUILD_VERSION_H_
