// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/async_requests.h"

#include <cmath>

namespace sideband::mcu {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::MailboxStatus;
using mailbox::MetricId;

Reply AsyncRequests::Execute(uint8_t type, uint8_t arg2) {
  return static_cast<AsyncType>(type) == AsyncType::kPoll ? Poll(arg2) : Submit(type, arg2);
}

Reply AsyncRequests::Submit(uint8_t type, uint8_t dword) {
  AsyncResult result = CarryOut(type, dword);
  // A failed request has no dwords, which always fit, so its own status is kept.
  if (!scratch_.Put(dword, result.dwords)) result.status = AsyncStatus::kInvalidOffset;
  // Ids repeat after 256 requests, long after the first of them has been forgotten.
  const uint8_t id = next_id_++;
  if (ended_.size() == kRemembered) ended_.pop_front();
  ended_.push_back({id, result.status});
  return {.status = MailboxStatus::kAccepted, .data = id};
}

Reply AsyncRequests::Poll(uint8_t id) const {
  for (const Ended& ended : ended_) {
    if (ended.id == id) return {.data = static_cast<uint32_t>(ended.status)};
  }
  return Fail(MailboxStatus::kErrArg2);
}

AsyncResult AsyncRequests::CarryOut(uint8_t type, uint8_t dword) {
  switch (static_cast<AsyncType>(type)) {
    case AsyncType::kEnergy:
      return Energy();
    case AsyncType::kUtilization:
      return Utilization();
    case AsyncType::kMemoryCapacity:
      return MemoryCapacity();
    case AsyncType::kGetPowerLimit:
    case AsyncType::kSetPowerLimit:
    case AsyncType::kPowerLimitInfo:
    case AsyncType::kFanCount:
    case AsyncType::kViolations:
    case AsyncType::kGetClockLimit:
    case AsyncType::kGetModuleLimit:
    case AsyncType::kSetModuleLimit:
    case AsyncType::kModuleLimitInfo:
      return limits_.CarryOut(static_cast<AsyncType>(type), dword);
    case AsyncType::kPoll:
      break;  // Execute answers it
  }
  return {type <= mailbox::kAsyncTypeMax ? AsyncStatus::kNotSupported : AsyncStatus::kInvalidCommand, {}};
}

AsyncResult AsyncRequests::Energy() {
  const auto energy_mj = sensors_.EnergyMj();
  if (!energy_mj) return {AsyncStatus::kNotReady, {}};
  return {AsyncStatus::kSuccess, {static_cast<uint32_t>(*energy_mj), static_cast<uint32_t>(*energy_mj >> 32)}};
}

bool AsyncRequests::HasUtilization() const {
  return monitor_.Has(MetricId::kEngineActive) && monitor_.Has(MetricId::kDramUsage);
}

AsyncResult AsyncRequests::Utilization() {
  if (!HasUtilization()) return {AsyncStatus::kNotSupported, {}};
  const auto gpu = monitor_.WholeDevice(MetricId::kEngineActive), memory = monitor_.WholeDevice(MetricId::kDramUsage);
  if (gpu.status != MailboxStatus::kSuccess || memory.status != MailboxStatus::kSuccess) {
    return {AsyncStatus::kNotReady, {}};
  }
  return {AsyncStatus::kSuccess,
          {static_cast<uint32_t>(std::lround(gpu.percent)), static_cast<uint32_t>(std::lround(memory.percent))}};
}

AsyncResult AsyncRequests::MemoryCapacity() {
  const auto memory = device_.GetMemoryUse();
  if (!memory) return {AsyncStatus::kNotSupported, {}};
  return {AsyncStatus::kSuccess, {memory->reserved_mib, memory->used_mib}};
}

}  // namespace sideband::mcu
