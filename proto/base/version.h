// SPDX-License-Identifier: Apache-2.0
//
// The version of this release, the same for all programs; CHANGELOG.md has a section for it.
//   std::cout << "sidebandd " << kVersion << "\n";
#ifndef SIDEBAND_PROTO_BASE_VERSION_H_
#define SIDEBAND_PROTO_BASE_VERSION_H_

namespace sideband {

inline constexpr char kVersion[] = "0.2.0";

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_VERSION_H_
