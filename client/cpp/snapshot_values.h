// SPDX-License-Identifier: Apache-2.0
//
// The messages of the API as the library's values, and back: devices, events, scopes and filters; snapshots; the
// history, with indices that were checked.
//   Bounds bounds;
//   const std::vector<Snapshot> snapshots = ValuesOf(response, bounds);
#ifndef SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_
#define SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_

#include <string>
#include <vector>

#include "client/cpp/answer.h"
#include "sideband/device.h"
#include "sideband/history.h"
#include "sideband/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

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
