// SPDX-License-Identifier: Apache-2.0
//
// Where the sealed records of a stream come from: the daemon (daemon_records.h), or a file inside the guest
// (view_records.h).
//   const RecordSource::Stream stream{.client = client, .subject = {.vm = "vm3"}, .nonce = nonce};
//   const absl::Status ended = source.Read(stream, {.on_record = [&](ByteSpan record) { return Use(record); }});
#ifndef SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_
#define SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_

#include <functional>

#include "absl/status/status.h"
#include "client/lib/key_exchange.h"
#include "client/lib/telemetry_client.h"
#include "proto/base/bytes.h"
#include "proto/envelope/record.h"

namespace sideband::client {

// The records are hostile until an opener has accepted them.
class RecordSource {
 public:
  struct Stream {
    TelemetryClient& client;  // with which the keys were exchanged
    ExchangeSubject subject;
    envelope::GuestNonce nonce{};
  };
  // They run on the calling thread.
  struct Callbacks {
    // Returns whether to go on.
    std::function<bool(ByteSpan record)> on_record;
    // Every second, if the records need the daemon.
    std::function<void()> on_second = [] {};
  };

  virtual ~RecordSource() = default;

  // Passes on each new record with the stream's nonce. Returns OK if on_record has returned false, at the cancellation,
  // and if the source has ended without an error; otherwise why there are no more, marked as remote (rpc_status.h):
  // FAILED_PRECONDITION if the exchange has ended.
  virtual absl::Status Read(const Stream& stream, const Callbacks& callbacks) = 0;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_RECORD_SOURCE_H_
