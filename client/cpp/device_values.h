// SPDX-License-Identifier: Apache-2.0
//
// Devices, events, scopes and filters: the messages of the API as the library's values, and back.
//   Bounds bounds;
//   const std::vector<Device> devices = ValuesOf(response, bounds);
#ifndef SIDEBAND_CLIENT_CPP_DEVICE_VALUES_H_
#define SIDEBAND_CLIENT_CPP_DEVICE_VALUES_H_

#include <string>
#include <vector>

#include "client/cpp/bounds.h"
#include "sideband/device.h"
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

}  // namespace sideband::library

#endif  // SIDEBAND_CLIENT_CPP_DEVICE_VALUES_H_
