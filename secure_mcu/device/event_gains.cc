// SPDX-License-Identifier: Apache-2.0
#include "secure_mcu/device/event_gains.h"

#include <algorithm>
#include <cmath>

namespace sideband::mcu {
namespace {

// The largest gain of an event per cycle by one input.
double GainOf(const CounterInput& input) {
  if (input.masked) return 0;
  if (input.digits > 0) return (std::ldexp(1.0, input.digits) - 1) / kPrescale;
  return std::ldexp(1.0, input.meaning.shift);
}

}  // namespace

EventGains::EventGains(const PipelineConfig& config)
    : slices_(config.slices),
      gains_(config.events * (slices_ + 1)),
      groups_(config.events, mailbox::kNoGateGroup),
      selectable_(config),
      has_own_clock_(config.events) {
  for (const CcuSpec& ccu : config.ccus) {
    const size_t channel = ccu.channel == kDeviceChannel ? slices_ : ccu.channel;
    for (const UlcSpec& ulc : ccu.ulcs) {
      for (const CounterInput& input : ulc.inputs) {
        gains_[input.meaning.event * (slices_ + 1) + channel] += GainOf(input);
        if (ulc.domain != 0) has_own_clock_[input.meaning.event] = true;
        if (input.group) groups_[input.meaning.event] = *input.group;
      }
    }
  }
}

double EventGains::PerCycle(uint16_t event, SliceSet slices) const {
  const double* const gains = &gains_[event * (slices_ + 1)];
  double sum = slices == kEverySlice ? gains[slices_] : 0;
  for (size_t slice = 0; slice < slices_; ++slice) {
    if ((slices >> slice & 1) != 0) sum += gains[slice];
  }
  return sum;
}

mailbox::EventDetails EventGains::DetailsOf(uint16_t event, mailbox::EventScope scope) const {
  const double* const gains = &gains_[event * (slices_ + 1)];
  const auto rate = [&](double gain) {
    // A gain beyond the format's limit, of wide numbers on many units, is reported as unknown.
    const double scaled = std::ldexp(gain, 32);
    const uint64_t gain_q32 = scaled > static_cast<double>(mailbox::kRateQ32Max) ? 0 : static_cast<uint64_t>(scaled);
    return mailbox::SliceRate{.capacity_q32 = has_own_clock_[event] ? 0 : gain_q32, .gain_q32 = gain_q32};
  };
  mailbox::EventDetails details{.gate_group = groups_[event], .selectable = selectable_.Has(event)};
  // An event without wires, or a masked one, has no rate.
  if (std::all_of(gains, gains + slices_ + 1, [](double gain) { return gain == 0; })) return details;
  if (scope == mailbox::EventScope::kDevice) return {.slices = {rate(gains[slices_])}};
  const bool same = std::all_of(gains, gains + slices_, [&](double gain) { return gain == gains[0]; });
  for (size_t slice = 0; slice < (same ? 1 : slices_); ++slice) details.slices.push_back(rate(gains[slice]));
  return details;
}

}  // namespace sideband::mcu
