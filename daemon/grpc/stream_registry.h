// SPDX-License-Identifier: Apache-2.0
//
// The open streams: counts them per identity, wakes them when there is something new and every now and then (a token
// may have expired), and ends them at shutdown.
//   StreamRegistry registry(store, policy, /*per_identity_max=*/64);
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
#include "daemon/authz/policy_holder.h"
#include "daemon/store/store.h"

namespace sideband::daemon {

// Thread-safe, and neither call may block for long.
class Stream {
 public:
  virtual ~Stream() = default;
  // There may be something new to send.
  virtual void Wake() = 0;
  // The server is shutting down.
  virtual void Stop() = 0;
};

// Thread-safe. A thread of its own wakes the streams, so that the collectors, who publish, never wait for them. `store`
// and `policy` must outlive it.
class StreamRegistry final : public PublicationListener, public PolicyListener {
 public:
  // Streams are woken once in `wake_interval` even if there is nothing new.
  StreamRegistry(Store& store, PolicyHolder& policy, size_t per_identity_max,
                 absl::Duration wake_interval = absl::Seconds(1));
  // Stops; streams that are still there are let go.
  ~StreamRegistry() override;

  // RESOURCE_EXHAUSTED where the identity has its maximum already, UNAVAILABLE after Stop().
  absl::Status Add(const std::string& identity, std::shared_ptr<Stream> stream);
  // Lets go of the stream, if it is there.
  void Remove(const Stream* stream);
  // Stops all streams and takes no more. May be called more than once.
  void Stop();

  void OnPublish(size_t device, const std::shared_ptr<const DeviceSnapshot>& snapshot) override;
  void OnPolicyChange() override;

 private:
  struct Entry {
    std::string identity;
    std::shared_ptr<Stream> stream;  // shared with a wake-up or call-back that is under way
  };

  void Run();
  bool HasNews() const ABSL_SHARED_LOCKS_REQUIRED(mu_) { return news_ || stopping_; }
  void Announce();
  std::vector<std::shared_ptr<Stream>> Streams() const ABSL_SHARED_LOCKS_REQUIRED(mu_);

  Store& store_;
  PolicyHolder& policy_;
  const size_t per_identity_max_;
  const absl::Duration wake_interval_;

  absl::Mutex mu_;
  bool news_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  absl::flat_hash_map<const Stream*, Entry> entries_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, size_t> per_identity_ ABSL_GUARDED_BY(mu_);

  std::thread thread_;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_STREAM_REGISTRY_H_
