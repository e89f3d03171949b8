// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>

#include "client/cpp/answer.h"
#include "client/cpp/client_state.h"
#include "client/cpp/snapshot_values.h"
#include "client/cpp/stream_values.h"
#include "client/cpp/subscription.h"
#include "proto/base/status_macros.h"
#include "sideband/change.h"
#include "sideband/client.h"
#include "sideband/device.h"
#include "sideband/error.h"
#include "sideband/history.h"
#include "sideband/marks.h"
#include "sideband/rates.h"
#include "sideband/sensors.h"
#include "sideband/snapshot.h"
#include "sideband/stream.h"
#include "sideband/time.h"

// The public headers' examples are a program's, outside of the library's namespaces.
namespace program {

int UseClient() {
  //@ client/cpp/include/sideband/client.h
  return 0;
}

int UseStream(const sideband::Client& client) {
  //@ client/cpp/include/sideband/stream.h
  return 0;
}

int UseError(const sideband::Client& client) {
  //@ client/cpp/include/sideband/error.h
  return 0;
}

int UseHistory(const sideband::Client& client) {
  //@ client/cpp/include/sideband/history.h
  return 0;
}

int UseSensors(const sideband::Client& client) {
  //@ client/cpp/include/sideband/sensors.h
  return 0;
}

int UseMarks(const sideband::Client& client) {
  //@ client/cpp/include/sideband/marks.h
  return 0;
}

void UseDevice(const sideband::Result<std::vector<sideband::Device>>& devices) {
  //@ client/cpp/include/sideband/device.h
}

void UseSnapshot(const sideband::Snapshot& snapshot) {
  //@ client/cpp/include/sideband/snapshot.h
}

void UseRates(const sideband::Snapshot& earlier, const sideband::Snapshot& later) {
  //@ client/cpp/include/sideband/rates.h
}

void UseChange(const sideband::Change& change) {
  //@ client/cpp/include/sideband/change.h
}

void UseTime() {
  //@ client/cpp/include/sideband/time.h
}

}  // namespace program

namespace sideband::library {
namespace {

void Use(const v1::SubscribeResponse& response);
void Use(const StreamItem& item);
void Wait(absl::Duration delay);
void Report(const Gap& gap);
void ReadAgain();

Result<Time> UseAnswer(const absl::StatusOr<v1::Snapshot>& response) {
  //@ client/cpp/answer.h
  return Time();
}

void UseSnapshotValues(const v1::GetSnapshotResponse& response) {
  //@ client/cpp/snapshot_values.h
}

void UseStreamValues(const v1::SubscribeResponse& response) {
  //@ client/cpp/stream_values.h
}

void UseSubscription(const StreamOptions& options, Subscription::Environment environment) {
  //@ client/cpp/subscription.h
}

absl::Status UseClientState(const client::ClientConfig& config, const v1::MarkRequest& request) {
  //@ client/cpp/client_state.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::library
