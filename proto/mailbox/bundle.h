// SPDX-License-Identifier: Apache-2.0
//
// BUNDLE_LAUNCH: several requests in scratch memory, executed by one command, whose rules pack parts of their results
// into the reply's own registers. The numbers are those of NVIDIA's public smbpbi.h (open-gpu-kernel-modules, MIT;
// docs/design/smbpbi-facts.md, 3.10). That the rules follow the requests is our own definition.
//   BUNDLE_LAUNCH, arg1 = requests 3:0, rules 7:4; arg2 = dword d of the destination page
//   dwords d + 4 · i …: command, data-in, data-out, extended data of request i; then a dword for each rule
//   BundleRule{.request = 0, .source = BundleField::kData, .width = 32, .destination = BundleField::kData}.Encode()
#ifndef SIDEBAND_PROTO_MAILBOX_BUNDLE_H_
#define SIDEBAND_PROTO_MAILBOX_BUNDLE_H_

#include <cstddef>
#include <cstdint>

namespace sideband::mailbox {

inline constexpr size_t kBundleRequestsMax = 4;
inline constexpr size_t kBundleRulesMax = 10;
inline constexpr size_t kBundleRequestDwords = 4;
// Of a request's command: whether a failure ends the bundle. After its execution the dword has the status.
inline constexpr uint32_t kBundleStops = uint32_t{1} << 31;

enum class BundleField : uint8_t { kStatus = 0, kData = 1, kExtendedData = 2 };

// Copies `width` bits of a request's result, from bit `from` on, to bit `to` of a register of the reply.
struct BundleRule {
  uint8_t request = 0;
  BundleField source = BundleField::kData;
  uint8_t from = 0;
  uint8_t width = 0;  // 1 to 31; 0 is 32
  BundleField destination = BundleField::kData;
  uint8_t to = 0;

  constexpr uint32_t Encode() const {
    return (request & 7u) | static_cast<uint32_t>(source) << 3 | (from & 31u) << 5 | (width & 31u) << 10 |
           static_cast<uint32_t>(destination) << 15 | (to & 31u) << 17;
  }
  static constexpr BundleRule Decode(uint32_t dword) {
    return {.request = static_cast<uint8_t>(dword & 7),
            .source = static_cast<BundleField>(dword >> 3 & 3),
            .from = static_cast<uint8_t>(dword >> 5 & 31),
            .width = static_cast<uint8_t>(dword >> 10 & 31),
            .destination = static_cast<BundleField>(dword >> 15 & 3),
            .to = static_cast<uint8_t>(dword >> 17 & 31)};
  }
  bool operator==(const BundleRule&) const = default;
};

}  // namespace sideband::mailbox

#endif  // SIDEBAND_PROTO_MAILBOX_BUNDLE_H_
