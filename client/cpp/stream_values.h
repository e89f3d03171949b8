// SPDX-License-Identifier: Apache-2.0
//
// The messages of the API as the library's values, and back: what streams tell besides counters, and the request of a
// stream; marks and spans; boards' sensors.
//   Bounds bounds;
//   const Gap gap = ValueOf(response.gap(), bounds);
#ifndef SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_
#define SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cpp/snapshot_values.h"
#include "sideband/marks.h"
#include "sideband/sensors.h"
#include "sideband/stream.h"
#include "sideband/v1/sensors.pb.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

Gap ValueOf(const v1::Gap& gap, Bounds& bounds);
Change ValueOf(const v1::StateChange& change, Bounds& bounds);

// INVALID_ARGUMENT naming the option that is out of bounds. The daemon judges the rest.
absl::Status CheckOptions(const StreamOptions& options);
// The request has `resume_token` in place of that of the options.
v1::SubscribeRequest ToMessage(const StreamOptions& options, const std::string& resume_token);

Mark ValueOf(const v1::MarkInfo& mark, Bounds& bounds);
std::vector<Mark> ValuesOf(const v1::ListMarksResponse& response, Bounds& bounds);
Span ValueOf(const v1::GetSpanResponse& response, Bounds& bounds);

v1::MarkRequest ToMessage(const MarkRequest& request);
v1::ListMarksRequest ToMessage(const MarkFilter& filter);
v1::GetSpanRequest ToMessage(const SpanRequest& request);

Sensor ValueOf(const v1::Sensor& sensor, Bounds& bounds);
DeviceSensors ValueOf(const v1::DeviceSensors& sensors, Bounds& bounds);
std::vector<DeviceSensors> ValuesOf(const v1::GetSensorsResponse& response, Bounds& bounds);

v1::SensorFilter ToMessage(const SensorFilter& filter);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_STREAM_VALUES_H_
