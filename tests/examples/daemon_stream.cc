// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/snapshot/device_snapshot.h"
#include "daemon/stream/change_stream.h"
#include "daemon/stream/resume_token.h"
#include "daemon/stream/sample_stream.h"
#include "daemon/stream/stream_content.h"
#include "daemon/stream/stream_request.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_message.h"
#include "proto/base/status_macros.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::daemon {
namespace {

void Begin();
void Resume(const StreamPosition& position);
void Send(const StreamMessage& message);
void Send(const sideband::v1::StateChange& change);
void SendSync();

void UseChangeStream(const StreamRequest& request, const SensorQueries& sensors, const MarkQueries& marks,
                     const StreamSight& sight) {
  //@ daemon/stream/change_stream.h
}

absl::Status UseResumeToken(const std::string& identity, const sideband::v1::SubscribeRequest& request,
                            const StreamPosition& reached, sideband::v1::SubscribeResponse& response) {
  //@ daemon/stream/resume_token.h
  return absl::OkStatus();
}

void UseSampleStream(const StreamRequest& request, Reader& reader, SnapshotBodies& bodies, const HistoryReader& history,
                     const StreamSight& sight) {
  //@ daemon/stream/sample_stream.h
}

void UseStreamContent(StreamContent& content, const StreamSight& sight) {
  //@ daemon/stream/stream_content.h
}

absl::Status UseStreamRequest(const sideband::v1::SubscribeRequest& message) {
  //@ daemon/stream/stream_request.h
  return absl::OkStatus();
}

}  // namespace
}  // namespace sideband::daemon
