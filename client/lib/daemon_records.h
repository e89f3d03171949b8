// SPDX-License-Identifier: Apache-2.0
//
// The sealed records of a VM out of band, as the daemon streams them.
//   DaemonRecords records;
//   const absl::Status ended = records.Read(stream, {.on_record = on_record});
#ifndef SIDEBAND_CLIENT_LIB_DAEMON_RECORDS_H_
#define SIDEBAND_CLIENT_LIB_DAEMON_RECORDS_H_

#include "absl/status/status.h"
#include "client/lib/record_source.h"

namespace sideband::client {

class DaemonRecords final : public RecordSource {
 public:
  // Errors are those of TelemetryClient::SubscribeSealed. OK also if the server has ended the stream.
  absl::Status Read(const Stream& stream, const Callbacks& callbacks) override;
};

}  // namespace sideband::client

#endif  // SIDEBAND_CLIENT_LIB_DAEMON_RECORDS_H_
