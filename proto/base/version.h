// SPDX-License-Identifier: Apache-2.0
//
// The version of this release, the same for all programs, and the revision of the sources if the build was given one.
// CHANGELOG.md has a section for each release.
//   std::cout << "sidebandd " << BuildVersion() << "\n";  // "sidebandd 0.2.0 (7034ce0)", or "sidebandd 0.2.0"
#ifndef SIDEBAND_PROTO_BASE_VERSION_H_
#define SIDEBAND_PROTO_BASE_VERSION_H_

#include <string>

namespace sideband {

inline constexpr char kVersion[] = "0.2.0";

// The two functions are those of the target //proto/base:build_version. A build has a revision if Bazel's workspace
// status has STABLE_REVISION, as in `./dev package`.

// "7034ce0"; empty in a build without a revision.
std::string BuildRevision();
// The version that `--version` prints: the release and the revision.
std::string BuildVersion();

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_VERSION_H_
