// SPDX-License-Identifier: Apache-2.0
#include "client/lib/daemon_records.h"

#include "absl/time/time.h"
#include "sideband/v1/telemetry.pb.h"

namespace sideband::client {

absl::Status DaemonRecords::Read(const Stream& stream, const Callbacks& callbacks) {
  v1::SubscribeSealedRequest request;
  request.set_device(stream.subject.device);
  request.set_vm(stream.subject.vm);
  request.set_nonce(stream.nonce.data(), stream.nonce.size());
  const StreamTick tick{.period = absl::Seconds(1), .action = [&] { return callbacks.on_second(), true; }};
  return stream.client.SubscribeSealed(request, callbacks.on_record, tick);
}

}  // namespace sideband::client
