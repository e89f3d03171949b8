// SPDX-License-Identifier: Apache-2.0
//
// The limits of each identity: on its calls (their rate, how many are under way, the bytes of answers that are made and
// not yet sent), and on its open streams. The registry of streams also wakes them, at each update and once a second (a
// token may have expired), and ends them at shutdown.
//   SIDEBAND_ASSIGN_OR_RETURN(auto share, under_way.Begin("spiffe://example.org/acme"));
//   share->Hold(answer.ByteSizeLong());
//   share.reset();   // when the answer has been sent
//   StreamRegistry registry(reader, /*per_identity_max=*/64);
//   SIDEBAND_RETURN_IF_ERROR(registry.Add(identity, stream));
//   registry.Remove(stream.get());
//   registry.Stop();
#ifndef SIDEBAND_DAEMON_GRPC_CALL_LIMITS_H_
#define SIDEBAND_DAEMON_GRPC_CALL_LIMITS_H_

#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "daemon/base/clock.h"
#include "daemon/view/reader.h"
#include "proto/base/steady_time.h"

namespace sideband::daemon {

// A limit on the rate of calls: an average, and a burst after a pause.
//
// Thread-safe. `clock` must outlive it. Entries are dropped once a whole burst is available again, so there are never
// more than the identities that the policy listed within that time.
class RequestQuota {
 public:
  struct Limits {
    int per_second = 50;
    int burst = 100;
  };
  struct Verdict {
    bool is_admitted = true;
    bool is_repeated = false;    // rejected, and so was the identity's previous request
    absl::Duration retry_after;  // zero where admitted
  };

  RequestQuota(Limits limits, const Clock& clock);

  // Charges the request where it is admitted. A rejected request is not charged.
  Verdict Take(const std::string& identity);

  const Limits& limits() const { return limits_; }
  // For tests: the number of entries.
  size_t remembered() const;

 private:
  struct Entry {
    absl::Duration paid_until;  // steady time; each admitted request adds `interval_`
    bool is_refused = false;    // the last request was rejected
  };

  void Forget(absl::Duration now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  const Clock& clock_;
  const absl::Duration interval_;  // 1 s / per_second
  const absl::Duration window_;    // burst * interval_

  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Entry> entries_ ABSL_GUARDED_BY(mu_);  // by identity
  absl::Duration forget_at_ ABSL_GUARDED_BY(mu_);                         // steady time
};

// Calls under way, and bytes of answers. An identity that requests answers without reading them is rejected before
// those answers fill the daemon's memory.
//
// Thread-safe. The limits on bytes are checked before an answer is made and charged when its size is known, so an
// identity can exceed them by the answers that several threads make at one time.
class CallsUnderWay {
 public:
  struct Limits {
    size_t calls_max = 128;         // including streams
    size_t bytes_max = 32UL << 20;  // serialized
    // Beyond this number of all bytes, each of the identities that hold some may hold no more than an equal part of it.
    size_t all_bytes_max = 32UL << 20;
  };

  // The share of one call. Thread-safe except for the destructor, which releases the call and its bytes.
  class Share {
   public:
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // Sets the bytes that this call holds; replaces the previous value.
    void Hold(size_t bytes);
    // Whether the identity holds as many bytes as it may: no further answer may be made for it.
    bool IsFull() const;
    // The same as the status of Begin(): for a call that has waited for its turn.
    absl::Status Check() const;

   private:
    friend class CallsUnderWay;
    Share(CallsUnderWay& all, std::string identity) : all_(all), identity_(std::move(identity)) {}

    CallsUnderWay& all_;
    const std::string identity_;
    size_t bytes_ ABSL_GUARDED_BY(all_.mu_) = 0;
  };

  explicit CallsUnderWay(Limits limits) : limits_(limits) {}

  // RESOURCE_EXHAUSTED, with a time (daemon/base/retry_after.h), where the identity has as many calls under way, or
  // holds as many bytes, as it may. The share must not outlive this object.
  absl::StatusOr<std::unique_ptr<Share>> Begin(const std::string& identity);

  // For tests: the number of identities with a call under way.
  size_t identities() const;

 private:
  struct Held {
    size_t calls = 0;
    size_t bytes = 0;
  };
  bool IsFull(const Held& held) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Change(Held& held, size_t from, size_t to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Held> held_ ABSL_GUARDED_BY(mu_);  // by identity
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;                             // of all
  size_t holders_ ABSL_GUARDED_BY(mu_) = 0;                           // identities that hold bytes
};

// An open stream. Thread-safe. Neither function may block for long.
class Stream {
 public:
  virtual ~Stream() = default;
  // New data or a new policy may be available.
  virtual void Wake() = 0;
  // The server is shutting down.
  virtual void Stop() = 0;
};

// The open streams. Thread-safe. A thread of its own wakes them, so that publishing collectors never wait for them.
// `reader` must outlive it.
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

#endif  // SIDEBAND_DAEMON_GRPC_CALL_LIMITS_H_
