// SPDX-License-Identifier: Apache-2.0
//
// What each identity has under way: calls, and the bytes of answers that it has asked for and not taken yet. Whoever
// asks without reading gets no more, before it costs the daemon the memory of all those answers.
//   SIDEBAND_ASSIGN_OR_RETURN(auto share, under_way.Begin("spiffe://example.org/acme"));
//   share->Hold(answer.ByteSizeLong());
//   share.reset();   // when the answer has gone
#ifndef SIDEBAND_DAEMON_GRPC_CALLS_UNDER_WAY_H_
#define SIDEBAND_DAEMON_GRPC_CALLS_UNDER_WAY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"

namespace sideband::daemon {

// Thread-safe. An identity is asked whether it is full before an answer is made, and charged once its size is known: it
// can be beyond its bytes by the answers that threads make at one time.
class CallsUnderWay {
 public:
  struct Limits {
    size_t calls_max = 128;         // streams among them
    size_t bytes_max = 32UL << 20;  // as they are sent
  };

  // One call's part. Thread-safe, but for its destruction, which gives everything back.
  class Share {
   public:
    ~Share();
    Share(const Share&) = delete;
    Share& operator=(const Share&) = delete;

    // From now on so much, instead of what it was before.
    void Hold(size_t bytes);
    // Whether the identity has to take something before it gets more.
    bool IsFull() const;

   private:
    friend class CallsUnderWay;
    Share(CallsUnderWay& all, std::string identity) : all_(all), identity_(std::move(identity)) {}

    CallsUnderWay& all_;
    const std::string identity_;
    size_t bytes_ ABSL_GUARDED_BY(all_.mu_) = 0;
  };

  explicit CallsUnderWay(Limits limits) : limits_(limits) {}

  // RESOURCE_EXHAUSTED where the identity has too many calls, or too much that it has not taken. The share must not
  // outlive this.
  absl::StatusOr<std::unique_ptr<Share>> Begin(const std::string& identity);

  // For tests: how many identities have something under way.
  size_t identities() const;

 private:
  struct Held {
    size_t calls = 0;
    size_t bytes = 0;
  };

  const Limits limits_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Held> held_ ABSL_GUARDED_BY(mu_);  // by identity
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_GRPC_CALLS_UNDER_WAY_H_
