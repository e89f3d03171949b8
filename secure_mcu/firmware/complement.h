// SPDX-License-Identifier: Apache-2.0
//
// Complement protection: what the values of the whole device tell of confidential VMs, by class of value. Such a value
// less those of the open VMs would be the confidential ones'. (security.md, "Arithmetic on what is public";
// docs/complement.md)
//   if (IsWithheld(policy.power, device.catalog())) return Fail(mailbox::MailboxStatus::kErrNotAvailable);
#ifndef SIDEBAND_SECURE_MCU_FIRMWARE_COMPLEMENT_H_
#define SIDEBAND_SECURE_MCU_FIRMWARE_COMPLEMENT_H_

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "proto/mailbox/catalog.h"

namespace sideband::mcu {

enum class Complement : uint8_t {
  kExclude,   // without the confidential VMs' part, and without what cannot be attributed to VMs
  kWithhold,  // not available once there has been a confidential VM, until the device restarts
  kAllow,     // as it is, confidential VMs included
};

struct ComplementWord {
  absl::string_view word;
  Complement rule;
};
inline constexpr std::array<ComplementWord, 3> kComplementWords = {
    {{"exclude", Complement::kExclude}, {"withhold", Complement::kWithhold}, {"allow", Complement::kAllow}}};

struct ComplementPolicy {
  Complement counters = Complement::kExclude;     // metrics of opcode 28
  Complement utilisation = Complement::kExclude;  // ASYNC_REQUEST 0A
  Complement power = Complement::kExclude;
  Complement energy = Complement::kExclude;
  Complement temperature = Complement::kExclude;
  Complement clocks = Complement::kExclude;  // current ones; their limits are constant

  bool operator==(const ComplementPolicy&) const = default;
};

struct ComplementClass {
  absl::string_view name;
  Complement ComplementPolicy::*rule;
};
inline constexpr std::array<ComplementClass, 6> kComplementClasses = {{
    {"counters", &ComplementPolicy::counters},
    {"utilisation", &ComplementPolicy::utilisation},
    {"power", &ComplementPolicy::power},
    {"energy", &ComplementPolicy::energy},
    {"temperature", &ComplementPolicy::temperature},
    {"clocks", &ComplementPolicy::clocks},
}};

// Whether a confidential VM exists, or has existed since the boot: sums and averages from before it left contain it.
inline bool HasHadConfidentialVm(const mailbox::Catalog& catalog) {
  return catalog.has_had_confidential_vm || std::ranges::any_of(catalog.vms, &mailbox::VmInfo::confidential);
}

// Whether the device's own block has no counts of confidential VMs, apart from events of the device's scope.
inline bool DeviceBlockIsOpen(const mailbox::Catalog& catalog) {
  return std::ranges::none_of(catalog.vms, [](const mailbox::VmInfo& vm) { return vm.confidential && !vm.is_private; });
}

inline bool IsWithheld(Complement rule, const mailbox::Catalog& catalog) {
  return rule == Complement::kWithhold && HasHadConfidentialVm(catalog);
}

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_FIRMWARE_COMPLEMENT_H_
