// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/firmware/async_requests.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "secure_mcu/firmware/board_state.h"
#include "secure_mcu/firmware/system_info.h"

namespace sideband::mcu {
namespace {

using mailbox::AsyncStatus;
using mailbox::AsyncType;
using mailbox::BoardEvent;
using mailbox::MailboxStatus;
using mailbox::MetricId;

constexpr size_t kLimitDwords = 3;  // flags, asked for, in force
constexpr uint32_t kLimitFlags = mailbox::kLimitPersists | mailbox::kLimitClears;
constexpr size_t kFirstViolation = 2;  // after the mask and its padding
constexpr uint64_t kNsPerMs = 1'000'000;

AsyncResult GetLimit(const std::optional<PowerLimits>& limits, const PowerLimitState& state) {
  if (!limits) return {AsyncStatus::kNotSupported};
  return {AsyncStatus::kSuccess, {0, state.asked_mw.value_or(mailbox::kNoLimit), InForceMw(*limits, state)}};
}

AsyncResult LimitInfo(const std::optional<PowerLimits>& limits) {
  if (!limits) return {AsyncStatus::kNotSupported};
  return {AsyncStatus::kSuccess, {limits->least_mw, limits->most_mw, limits->default_mw}};
}

}  // namespace

AsyncResult LimitRequests::CarryOut(AsyncType type, uint8_t dword) {
  switch (type) {
    case AsyncType::kGetPowerLimit:
      return GetLimit(spec_.power_limit, state_.power_limit);
    case AsyncType::kSetPowerLimit:
      return SetLimit(spec_.power_limit, state_.power_limit, BoardEvent::kPowerLimitSet, dword);
    case AsyncType::kPowerLimitInfo:
      return LimitInfo(spec_.power_limit);
    case AsyncType::kFanCount:
      return FanCount();
    case AsyncType::kViolations:
      return Violations(dword);
    case AsyncType::kGetClockLimit:
      return ClockLimit();
    case AsyncType::kGetModuleLimit:
      return GetLimit(ModuleLimits(spec_), state_.module_limit);
    case AsyncType::kSetModuleLimit:
      return SetLimit(ModuleLimits(spec_), state_.module_limit, BoardEvent::kModuleLimitSet, dword);
    case AsyncType::kModuleLimitInfo:
      return LimitInfo(ModuleLimits(spec_));
    case AsyncType::kEnergy:
    case AsyncType::kUtilization:
    case AsyncType::kMemoryCapacity:
    case AsyncType::kPoll:
      break;  // async_requests.h
  }
  return {AsyncStatus::kNotSupported};
}

AsyncResult LimitRequests::SetLimit(const std::optional<PowerLimits>& limits, PowerLimitState& state, BoardEvent event,
                                    uint8_t dword) {
  if (!limits) return {AsyncStatus::kNotSupported};
  const auto parameters = scratch_.Parameters(dword, kLimitDwords);
  if (parameters.empty()) return {AsyncStatus::kInvalidOffset};
  const uint32_t flags = parameters[0], asked_mw = parameters[1];
  if ((flags & ~kLimitFlags) != 0) return {AsyncStatus::kInvalidArgument};
  if ((flags & mailbox::kLimitClears) != 0) {
    state.asked_mw.reset();
  } else {
    if (asked_mw < limits->least_mw || asked_mw > limits->most_mw) return {AsyncStatus::kInvalidLimit};
    state.asked_mw = asked_mw;
  }
  state_.Raise(event);
  return {};
}

AsyncResult LimitRequests::FanCount() const {
  // A board without thermal limits is a bare chip, whose cooling is unknown.
  if (!spec_.thermal) return {AsyncStatus::kNotSupported};
  return {AsyncStatus::kSuccess, {0}};
}

AsyncResult LimitRequests::Violations(uint8_t dword) const {
  if (!device_.GetWorkloadClock()) return {AsyncStatus::kNotSupported};
  if (IsClockHidden(device_, clocks_)) return {AsyncStatus::kNotReady};
  constexpr uint32_t kKnown = (uint32_t{1} << mailbox::kViolationCount) - 1;
  const uint32_t mask = scratch_.Parameters(dword, 1).front() & kKnown;  // one dword always fits
  std::vector<uint32_t> dwords(kFirstViolation + 2 * mailbox::kViolationSlots);
  dwords[0] = mask;
  for (size_t i = 0; i < mailbox::kViolationCount; ++i) {
    if ((mask >> i & 1) == 0) continue;
    const uint64_t ms = state_.violation_ns[i] / kNsPerMs;
    dwords[kFirstViolation + 2 * i] = static_cast<uint32_t>(ms);
    dwords[kFirstViolation + 2 * i + 1] = static_cast<uint32_t>(ms >> 32);
  }
  return {AsyncStatus::kSuccess, std::move(dwords)};
}

AsyncResult LimitRequests::ClockLimit() const {
  constexpr uint32_t kNothingAsked = uint32_t{mailbox::kNoClockLimit} << 16 | mailbox::kNoClockLimit;
  const auto range = ClockRangeMhz(device_);
  if (!range) return {AsyncStatus::kNotSupported};
  return {AsyncStatus::kSuccess, {kNothingAsked, *range}};
}

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
