// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/persona.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "proto/base/text.h"
#include "proto/mailbox/word.h"

namespace sideband::mcu {
namespace {

constexpr uint16_t kNvidiaVendorId = 0x10DE;

}  // namespace

absl::StatusOr<Persona> ParsePersona(absl::string_view name) {
  if (name == "sideband") return Persona::kSideband;
  if (name == "nvidia") return Persona::kNvidia;
  const std::string names[] = {"sideband", "nvidia"};
  return absl::InvalidArgumentError(
      absl::StrCat("unknown persona '", name, "', must be sideband or nvidia", DidYouMean(name, names)));
}

uint16_t VendorId(Persona persona) { return persona == Persona::kNvidia ? kNvidiaVendorId : mailbox::kVendorId; }

}  // namespace sideband::mcu
