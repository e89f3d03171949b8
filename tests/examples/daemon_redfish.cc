// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/redfish/device_resources.h"
#include "daemon/redfish/document.h"
#include "daemon/redfish/error_document.h"
#include "daemon/redfish/public_documents.h"
#include "daemon/redfish/redfish_service.h"
#include "daemon/redfish/request_target.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"

namespace sideband::daemon {
namespace {

using sideband::v1::Counter;
using sideband::v1::Device;
using sideband::v1::DeviceSensors;
using sideband::v1::ScopeCounters;
using sideband::v1::Sensor;
using sideband::v1::Snapshot;

void Show(const nlohmann::json& json);

void UseDeviceResources(const Device& device, const DeviceSensors& sensors) {
  //@ daemon/redfish/device_resources.h
}

void UseDocument() {
  //@ daemon/redfish/document.h
}

void UseErrorDocument() {
  //@ daemon/redfish/error_document.h
}

absl::StatusOr<RedfishDocument> UsePublicDocuments(const RedfishTarget& target) {
  //@ daemon/redfish/public_documents.h
  return absl::NotFoundError("");
}

absl::Status UseRedfishService(const SensorQueries& sensors, const Caller& caller) {
  //@ daemon/redfish/redfish_service.h
  return absl::OkStatus();
}

absl::Status UseRequestTarget() {
  //@ daemon/redfish/request_target.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
