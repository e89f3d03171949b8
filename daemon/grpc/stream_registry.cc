// SPDX-License-Identifier: Apache-2.0
#include "daemon/grpc/stream_registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/base/retry_after.h"

namespace sideband::daemon {
namespace {

// Streams last: those whose connection has died end when their readers have taken nothing for some heartbeats.
constexpr absl::Duration kStreamRetryAfter = absl::Seconds(5);

}  // namespace

StreamRegistry::StreamRegistry(Reader& reader, size_t per_identity_max, absl::Duration wake_interval)
    : reader_(reader), per_identity_max_(per_identity_max), wake_interval_(wake_interval), thread_([this] { Run(); }) {
  reader_.AddListener(*this);
}

StreamRegistry::~StreamRegistry() {
  // First: no update may reach an object that is being destroyed.
  reader_.RemoveListener(*this);
  Stop();
  thread_.join();
}

absl::Status StreamRegistry::Add(const std::string& identity, std::shared_ptr<Stream> stream) {
  absl::MutexLock lock(&mu_);
  // A stream added now would miss Stop().
  if (stopping_) return absl::UnavailableError("shutting down");
  size_t& open = per_identity_[identity];
  if (open >= per_identity_max_) {
    return WithRetryAfter(
        absl::ResourceExhaustedError(
            absl::StrCat("at most ", per_identity_max_, per_identity_max_ == 1 ? " stream" : " streams", " at a time")),
        kStreamRetryAfter);
  }
  ++open;
  const Stream* key = stream.get();
  entries_.emplace(key, Entry{identity, std::move(stream)});
  return absl::OkStatus();
}

void StreamRegistry::Remove(const Stream* stream) {
  std::shared_ptr<Stream> removed;  // declared first: destroyed after the lock is released
  absl::MutexLock lock(&mu_);
  const auto entry = entries_.find(stream);
  if (entry == entries_.end()) return;
  removed = std::move(entry->second.stream);
  const auto open = per_identity_.find(entry->second.identity);
  if (--open->second == 0) per_identity_.erase(open);
  entries_.erase(entry);
}

void StreamRegistry::Stop() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    absl::MutexLock lock(&mu_);
    stopping_ = true;
    changed_.NotifyAll();
    streams = Streams();
  }
  // Without the lock, since stopping a stream leads to Remove().
  for (const auto& stream : streams) stream->Stop();
}

std::vector<std::shared_ptr<Stream>> StreamRegistry::Streams() const {
  std::vector<std::shared_ptr<Stream>> streams;
  for (const auto& [key, entry] : entries_) streams.push_back(entry.stream);
  return streams;
}

void StreamRegistry::OnUpdate() {
  absl::MutexLock lock(&mu_);
  news_ = true;
  changed_.NotifyAll();
}

void StreamRegistry::Run() {
  while (true) {
    std::vector<std::shared_ptr<Stream>> streams;
    {
      absl::MutexLock lock(&mu_);
      changed_.AwaitFor(mu_, absl::Condition(this, &StreamRegistry::HasNews), wake_interval_);
      if (stopping_) return;
      news_ = false;
      streams = Streams();
    }
    // Without the lock, so that Add, Remove and publications do not wait for the streams.
    for (const auto& stream : streams) stream->Wake();
  }
}

}  // namespace sideband::daemon
