// SPDX-License-Identifier: Apache-2.0
//
// The dependencies that all gRPC services share.
#ifndef SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
#define SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_

#include "daemon/gate/gate.h"
#include "daemon/grpc/calls_under_way.h"
#include "daemon/grpc/request_quota.h"
#include "daemon/grpc/stream_registry.h"
#include "daemon/listen/work_queue.h"
#include "daemon/metrics/request_metrics.h"
#include "daemon/sealing/exchange_book.h"
#include "daemon/sealing/sealer_set.h"
#include "daemon/stream/resume_token.h"
#include "daemon/view/admin.h"
#include "daemon/view/counting_queries.h"
#include "daemon/view/exchange_queries.h"
#include "daemon/view/history_reader.h"
#include "daemon/view/mark_queries.h"
#include "daemon/view/peek_reader.h"
#include "daemon/view/reader.h"
#include "daemon/view/rotation_queries.h"
#include "daemon/view/sensor_history_reader.h"
#include "daemon/view/sensor_queries.h"
#include "daemon/view/snapshot_bodies.h"

namespace sideband::daemon {

// All referents must outlive the services.
struct ServiceContext {
  Reader& reader;
  RequestMetrics& metrics;
  StreamRegistry& streams;
  RequestQuota& quota;
  CallsUnderWay& under_way;
  SnapshotBodies& bodies;
  const HistoryReader* history;        // nullptr: no history is kept
  Gate& gate;                          // resolves a call's connection to its credentials
  SealerSet* sealers;                  // nullptr: nonces are rejected
  const PeekReader* peeks;             // nullptr: no device is peeked at
  const CountingQueries* counting;     // nullptr: what is counted cannot be changed
  const Admin* admin;                  // nullptr: calls of Admin are FAILED_PRECONDITION
  RotationSink* rotation = nullptr;    // nullptr: what takes turns cannot be changed
  const MarkQueries* marks = nullptr;  // nullptr: there are no marks
  ExchangeBook* exchanges = nullptr;   // nullptr: this daemon exchanges no keys
  const ExchangeQueries* exchange_queries =
      nullptr;                             // nullptr: calls of Challenge and Exchange are FAILED_PRECONDITION
  const SensorQueries* sensors = nullptr;  // nullptr: no board is read
  const SensorHistoryReader* sensor_history = nullptr;  // nullptr: no history of sensors is kept
  const ResumeTokens* tokens = nullptr;                 // nullptr only where there are no streams
  WorkQueue* work = nullptr;                            // nullptr: gRPC's threads render the answers
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_SERVICE_CONTEXT_H_
