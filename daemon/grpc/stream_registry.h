// SPDX-License-Identifier: Apache-2.0
//
// The open streams: limits their number per identity, wakes them at each update and once a second (a token may have
// expired), and ends them at shutdown.
//   StreamRegistry registry(reader, /*per_identity_max=*/64);
//   SIDEBAND_RETURN_IF_ERROR(registry.Add(identity, stream));
//   registry.Remove(stream.get());
//   registry.Stop();
#ifndef SIDEBAND_DAEMON_GRPC_STREAM_REGISTRY_H_
#define SIDEBAND_DAEMON_GRPC_STREAM_REGISTRY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/view/reader.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// Thread-safe. Neither function may block for long.
class Stream {
 public:
  virtual ~Stream() = default;
  // New data or a new policy may be available.
  virtual void Wake() = 0;
  // The server is shutting down.
  virtual void Stop() = 0;
};

// Thread-safe. A thread of its own wakes the streams, so that publishing collectors never wait for them. `reader` must
// outlive it.
class StreamRegistry final : public UpdateListener {
 public:
  // Wakes all streams once per `wake_interval` even without an update.
  StreamRegistry(Reader& reader, size_t per_identity_max, absl::Duration wake_interval = absl::Seconds(1));
  // Stop(), and drops the references to streams that have not ended.
  ~StreamRegistry() override;

  // RESOURCE_EXHAUSTED, with a time (daemon/base/retry_after.h), where the identity has `per_identity_max` streams;
  // UNAVAILABLE after Stop().
  absl::Status Add(const std::string& identity, std::shared_ptr<Stream> stream);
  // Drops the stream. No effect where it is absent.
  void Remove(const Stream* stream);
  // Stops all streams and rejects new ones. Idempotent.
  void Stop();

  void OnUpdate() override;

 private:
  struct Entry {
    std::string identity;
    std::shared_ptr<Stream> stream;  // shared with concurrent wake-ups and callbacks
  };

  void Run();
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return news_ || stopping_; }
  std::vector<std::shared_ptr<Stream>> Streams() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  Reader& reader_;
  const size_t per_identity_max_;
  const absl::Duration wake_interval_;

  absl::Mutex mu_;
  SteadyCondVar changed_;
  bool news_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_map<const Stream*, Entry> entries_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, size_t> per_identity_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_REGISTRY_H_
