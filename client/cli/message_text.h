// SPDX-License-Identifier: Apache-2.0
//
// Fields of the daemon's messages as text.
#ifndef SIDEBAND_CLIENT_CLI_MESSAGE_TEXT_H_
#define SIDEBAND_CLIENT_CLI_MESSAGE_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

// The enumerator's name in lower case, such as "fresh"; an unknown value is shown as its number.
std::string StateText(v1::Device::State state);
std::string StateText(v1::ScopeCounters::State state);
// "counters", "board", or "counters+board"; empty if nothing is known.
std::string KindsText(const v1::Device& device);
// False of a device that is a board alone, and of one that is away.
bool HasCounters(const v1::Device& device);
// Whether the device has answered and has neither boot id nor clock: a board without this project's firmware.
bool IsBoardAlone(const v1::Device& device);
std::string ScopeText(v1::Event::Scope scope);

// One line about a device without a snapshot.
std::string NotAnsweredText(const std::string& device);

// "2 messages of the driver were lost".
std::string LostText(uint64_t messages);

// Empty if the scope has no slice.
std::string SliceText(const v1::Scope& scope);
// The VM's name; "(host:3)" for the hypervisor on slice 3; empty for the device.
std::string VmText(const v1::Scope& scope);

// Whether flags of a row tell that its counts are estimates.
bool IsEstimated(const google::protobuf::RepeatedPtrField<std::string>& flags);
// Whether the counter is an estimate. An older daemon tells it of rows only.
bool IsEstimated(const v1::ScopeCounters& row, const v1::Counter& counter);
// Whether the event was not counted in every cycle of its scope's time, as far as the daemon knows.
bool IsPartial(const v1::Counter& counter);
// The row's flags as they concern one counter: "partial" and "estimated" only if it is.
std::vector<std::string> FlagsOf(const v1::ScopeCounters& row, const v1::Counter& counter);
// nullptr if the row has no utilisation of the event.
const v1::Ratio* FindUtilisation(const v1::ScopeCounters& row, const std::string& event);

absl::Duration ToDuration(const google::protobuf::Duration& duration);
absl::Time ToTime(const google::protobuf::Timestamp& time);
// UTC, to the millisecond: 2026-11-21T12:34:07.958Z.
std::string TimeText(absl::Time time);

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_CLI_MESSAGE_TEXT_H_
