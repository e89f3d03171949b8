// SPDX-License-Identifier: Apache-2.0
//
// Snapshots: the messages of the API as the library's values.
//   Bounds bounds;
//   const Snapshot snapshot = ValueOf(message, bounds);
#ifndef SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_
#define SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_

#include <string>
#include <vector>

#include "client/cpp/bounds.h"
#include "sideband/snapshot.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::library {

ScopeStatus ValueOf(v1::ScopeCounters::State state);
std::vector<std::string> ValuesOf(const google::protobuf::RepeatedPtrField<std::string>& texts);
std::vector<Counter> ValuesOf(const google::protobuf::RepeatedPtrField<v1::Counter>& counters, Bounds& bounds);
// Without rows if there are too many.
Snapshot ValueOf(const v1::Snapshot& snapshot, Bounds& bounds);
std::vector<Snapshot> ValuesOf(const v1::GetSnapshotResponse& response, Bounds& bounds);

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_SNAPSHOT_VALUES_H_
