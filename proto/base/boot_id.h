// SPDX-License-Identifier: Apache-2.0
//
// The text form of boot IDs in tables, JSON, logs and traces, the same everywhere so that a boot ID can be searched
// for.
#ifndef SIDEBAND_PROTO_BASE_BOOT_ID_H_
#define SIDEBAND_PROTO_BASE_BOOT_ID_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_format.h"

namespace sideband {

// 16 lower-case hexadecimal digits: 0xb007 is "000000000000b007".
inline std::string BootIdText(uint64_t boot_id) { return absl::StrFormat("%016x", boot_id); }

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_BOOT_ID_H_
