// SPDX-License-Identifier: Apache-2.0
//
// A live reader for tests: keeps the requests, which the test answers or cancels.
//   FakeLiveReader live;
//   const auto ticket = live.Peek(0, query, done);
//   live.Answer(0, block);
#ifndef SIDEBAND_DAEMON_VIEW_FAKE_LIVE_READER_H_
#define SIDEBAND_DAEMON_VIEW_FAKE_LIVE_READER_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/snapshot/live_reader.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {

// Thread-safe.
class FakeLiveReader final : public LiveReader {
 public:
  struct Request {
    size_t device = 0;
    PeekQuery query;
    Done done;  // empty once it is answered or cancelled
  };

  absl::StatusOr<Ticket> Peek(size_t device, PeekQuery query, Done done) override {
    absl::MutexLock lock(&mu_);
    if (!refusal_.ok()) return refusal_;
    requests_.push_back({device, std::move(query), std::move(done)});
    return Ticket{device, requests_.size() - 1};
  }
  bool Cancel(const Ticket& ticket) override {
    absl::MutexLock lock(&mu_);
    return std::exchange(requests_.at(ticket.number).done, nullptr) != nullptr;
  }

  // Every request is refused from now on; OK: accepted.
  void Refuse(absl::Status status) {
    absl::MutexLock lock(&mu_);
    refusal_ = std::move(status);
  }
  // Waits for the request with this number, from 0 on.
  Request Await(size_t number) {
    WaitUntil([&] { return count() > number; }, absl::StrCat("live request ", number));
    absl::MutexLock lock(&mu_);
    return requests_[number];
  }
  void Answer(size_t number, const absl::StatusOr<PeekedBlock>& peeked) {
    Done done;
    {
      absl::MutexLock lock(&mu_);
      done = std::exchange(requests_.at(number).done, nullptr);
    }
    done(peeked);
  }
  bool IsPending(size_t number) {
    absl::MutexLock lock(&mu_);
    return requests_.at(number).done != nullptr;
  }
  size_t count() {
    absl::MutexLock lock(&mu_);
    return requests_.size();
  }

 private:
  absl::Mutex mu_;
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  std::vector<Request> requests_ ABSL_GUARDED_BY(mu_);
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_VIEW_FAKE_LIVE_READER_H_
