// SPDX-License-Identifier: Apache-2.0
#include "client/guest/gate.h"

#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace sideband::client {
namespace {

constexpr uint64_t kNoContext = 0xFFFF;

constexpr uint64_t If(bool set, uint64_t field) { return set ? field : 0; }
constexpr bool Has(uint64_t word, uint64_t field) { return (word & field) != 0; }

hpc::PageAccess WriteAt(uint32_t offset, uint64_t value) {
  return hpc::WriteOf(static_cast<uint16_t>(offset), 8, value);
}
hpc::PageAccess ReadAt(uint32_t offset) { return hpc::ReadOf(static_cast<uint16_t>(offset), 8); }

absl::Status Absent() {
  return absl::UnavailableError("no counting registers: the page is a user's, or the device has no gate groups");
}

uint64_t ControlWord(const GateValue& value) {
  return If(value.master, hpc::kGateControlMaster) | If(value.vector_enable, hpc::kGateControlVectorEnable);
}

GateValue ValueOf(uint64_t vector, uint64_t control) {
  return {.master = Has(control, hpc::kGateControlMaster),
          .vector_enable = Has(control, hpc::kGateControlVectorEnable),
          .vector = vector};
}

// Where there are no registers, even the number of no context reads 0.
absl::Status CheckPresence(RegisterPage& page) {
  std::array accesses = {WriteAt(hpc::kGateContextOffset, kNoContext), ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
  return accesses[1].value == kNoContext ? absl::OkStatus() : Absent();
}

// Performs the accesses to a context's control block, of which the last reads the number of the context, until no other
// thread of the supervisor has come in between.
absl::Status PerformFor(RegisterPage& page, uint16_t context, std::span<hpc::PageAccess> accesses) {
  for (uint32_t attempt = 0; attempt < hpc::kAttemptsMax; ++attempt) {
    SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
    if (accesses.back().value == context) return absl::OkStatus();
  }
  return absl::AbortedError("interrupted by other threads of the supervisor");
}

}  // namespace

absl::StatusOr<GateValue> ReadGate(RegisterPage& page) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {ReadAt(hpc::kGateVectorOffset), ReadAt(hpc::kGateControlOffset)};
  SIDEBAND_RETURN_IF_ERROR(page.Perform(accesses));
  return ValueOf(accesses[0].value, accesses[1].value);
}

absl::Status WriteGate(RegisterPage& page, const GateValue& value) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {WriteAt(hpc::kGateVectorOffset, value.vector),
                         WriteAt(hpc::kGateControlOffset, ControlWord(value))};
  return page.Perform(accesses);
}

absl::StatusOr<ContextGate> ReadContextGate(RegisterPage& page, uint16_t context) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  std::array accesses = {WriteAt(hpc::kGateContextOffset, context), ReadAt(hpc::kGateContextVectorOffset),
                         ReadAt(hpc::kGateContextControlOffset), ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(PerformFor(page, context, accesses));
  const uint64_t control = accesses[2].value;
  return ContextGate{.value = ValueOf(accesses[1].value, control),
                     .load = Has(control, hpc::kGateContextControlLoad),
                     .store = Has(control, hpc::kGateContextControlStore)};
}

absl::Status WriteContextGate(RegisterPage& page, uint16_t context, const ContextGate& control) {
  SIDEBAND_RETURN_IF_ERROR(CheckPresence(page));
  const uint64_t word = ControlWord(control.value) | If(control.load, hpc::kGateContextControlLoad) |
                        If(control.store, hpc::kGateContextControlStore);
  std::array accesses = {WriteAt(hpc::kGateContextOffset, context),
                         WriteAt(hpc::kGateContextVectorOffset, control.value.vector),
                         WriteAt(hpc::kGateContextControlOffset, word), ReadAt(hpc::kGateContextControlOffset),
                         ReadAt(hpc::kGateContextOffset)};
  SIDEBAND_RETURN_IF_ERROR(PerformFor(page, context, accesses));
  if (accesses[3].value == word) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("the VM has no context ", context));
}

}  // namespace sideband::client
