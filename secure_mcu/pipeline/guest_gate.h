// SPDX-License-Identifier: Apache-2.0
//
// The registers by which a VM's supervisor chooses what is counted of its VM, as words: the slice's value, the VM's
// selection and identifiers, and the control blocks of its contexts (registers.md, "What is counted"). Also the places
// of these registers, and of an HPC client's, in a guest's page (registers.md, "Registers").
//
//   GuestGate registers;
//   registers.Write(GateRegister::kVector, 0b01, controls);
//   registers.Write(GateRegister::kControl, hpc::kGateControlMaster | hpc::kGateControlVectorEnable, controls);
//   registers.Read(GateRegister::kVector, controls);      // 0b01
//
//   if (const auto place = HpcPlaceOf(access)) value = client.Read(place->which, cycle, place->half);
#ifndef SIDEBAND_SECURE_MCU_PIPELINE_GUEST_GATE_H_
#define SIDEBAND_SECURE_MCU_PIPELINE_GUEST_GATE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "proto/mailbox/catalog.h"
#include "proto/registers/guest_port.h"
#include "proto/registers/hpc_registers.h"
#include "secure_mcu/pipeline/counter_gate.h"
#include "secure_mcu/pipeline/hpc_client.h"

namespace sideband::mcu {

enum class GateRegister { kVector, kControl, kSelection, kIds, kContext, kContextVector, kContextControl };

// The values that the registers show and change.
struct GuestControls {
  GateValue& value;                       // of the slice; a change is to be applied by the caller
  VmControl& vm;                          // of the VM
  ContextControl* context;                // of the context that GuestGate::context() names; nullptr: there is none
  const std::vector<CounterGate>& gates;  // of all slices
  std::vector<uint64_t> selections = {};  // of each, the groups of which it has events; none: the register is absent
};

// The registers of one VM. Not thread-safe.
class GuestGate {
 public:
  uint64_t Read(GateRegister which, const GuestControls& controls) const;
  // Without effect where a guest may not write the value: it can neither open what `allowed` closes nor close what
  // `pinned` opens (V11).
  void Write(GateRegister which, uint64_t word, const GuestControls& controls);

  // The number in kContext.
  uint16_t context() const { return context_; }
  // Another thread of the guest begins: what it writes must not reach the context that the one before had named.
  void ForgetContext() { context_ = mailbox::kNoContext; }

 private:
  uint16_t context_ = mailbox::kNoContext;
};

struct HpcPlace {
  HpcRegister which;
  HpcHalf half;
};

struct GatePlace {
  GateRegister which;
  HpcHalf half;
};

// `access` must be in the page (hpc::IsInPage). Where neither has a register the page reads 0, and writes have no
// effect.
std::optional<HpcPlace> HpcPlaceOf(const hpc::PageAccess& access);
std::optional<GatePlace> GatePlaceOf(const hpc::PageAccess& access);

}  // namespace sideband::mcu

#endif  // SIDEBAND_SECURE_MCU_PIPELINE_GUEST_GATE_H_
