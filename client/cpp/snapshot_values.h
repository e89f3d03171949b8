// SPDX-License-Identifier: Apache-2.0
//
// Checks the daemon's answers: statuses become the library's errors, and times and sizes are held against what the
// public types can take. Converts the messages of the API to the library's values, and back: devices, events, scopes
// and filters; snapshots; the history, with indices that were checked.
//   if (!response.ok()) return ErrorOf(response.status());
//   Bounds bounds;
//   std::vector<Snapshot> snapshots = ValuesOf(*response, bounds);
//   if (!bounds.status().ok()) return ErrorOf(bounds.status());
#ifndef SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_
#define SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_

#include <google/protobuf/duration.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "sideband/device.h"
#include "sideband/error.h"
#include "sideband/history.h"
#include "sideband/snapshot.h"
#include "sideband/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

// The times and sizes of one answer. The first that is beyond the bounds is remembered, and goes on as zero, so that a
// conversion needs no error of its own. Not thread-safe.
class Bounds {
 public:
  // `what` names the value in the error.
  Time TimeOf(const google::protobuf::Timestamp& time, absl::string_view what);
  Duration DurationOf(const google::protobuf::Duration& duration, absl::string_view what);
  Duration NanosecondsOf(uint64_t nanoseconds, absl::string_view what);

  // Count the answer's parts, against the limits of client.h; return whether they are within.
  bool AddScopes(size_t scopes);
  bool AddCounters(size_t counters);
  bool AddDevices(size_t devices);

  // Remembers that the answer is wrong, unless something was wrong before.
  void Refuse(const std::string& reason);
  // OK, or DATA_LOSS with the first reason.
  const absl::Status& status() const { return status_; }

 private:
  bool Add(size_t more, size_t max, absl::string_view what, size_t& total);

  absl::Status status_;
  size_t scopes_ = 0;
  size_t counters_ = 0;
  size_t devices_ = 0;
};

// The messages of a duration that is not negative, and of a time.
google::protobuf::Duration ToMessage(Duration duration);
google::protobuf::Timestamp ToMessage(Time time);

// The error of a status that is not OK. The message is one line: control characters are escaped.
Error ErrorOf(const absl::Status& status);

DeviceState ValueOf(v1::Device::State state);
Device ValueOf(const v1::Device& device, Bounds& bounds);
Scope ValueOf(const v1::Scope& scope);

std::vector<Device> ValuesOf(const v1::ListDevicesResponse& response, Bounds& bounds);
std::vector<DeviceEvents> ValuesOf(const v1::ListEventsResponse& response, Bounds& bounds);
std::vector<Scope> ValuesOf(const v1::ListScopesResponse& response, Bounds& bounds);

v1::Filter ToMessage(const Filter& filter);

// "gpu0: vm1/train", "gpu0: vm1", "gpu0: host of slice 2", or "gpu0", for error messages.
std::string ScopeText(const Scope& scope);
// Identifies a scope of one device over generations. Names may have any bytes, so their lengths are part of the key.
std::string ScopeKey(const Scope& scope);

ScopeStatus ValueOf(v1::ScopeCounters::State state);
std::vector<std::string> ValuesOf(const google::protobuf::RepeatedPtrField<std::string>& texts);
std::vector<Counter> ValuesOf(const google::protobuf::RepeatedPtrField<v1::Counter>& counters, Bounds& bounds);
// The value has no rows if there are too many.
Snapshot ValueOf(const v1::Snapshot& snapshot, Bounds& bounds);
std::vector<Snapshot> ValuesOf(const v1::GetSnapshotResponse& response, Bounds& bounds);

History ValueOf(const v1::GetHistoryResponse& response, Bounds& bounds);
v1::GetHistoryRequest ToMessage(const HistoryRequest& request);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_
