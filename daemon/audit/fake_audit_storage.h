// SPDX-License-Identifier: Apache-2.0
//
// An audit storage in memory that can fail or block the writer, for tests.
#ifndef SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_STORAGE_H_
#define SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_STORAGE_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_storage.h"
#include "proto/audit/chain.h"
#include "proto/base/steady_time.h"
#include "proto/base/wait_until.h"

namespace sideband::daemon {

// Thread-safe.
class FakeAuditStorage final : public AuditStorage {
 public:
  absl::Status Append(absl::string_view lines) override {
    absl::MutexLock lock(&mu_);
    ++attempts_;
    if (!changed_.AwaitFor(mu_, absl::Condition(&open_), kWaitUntilMax)) {
      EndInVain("the test to open the audit storage", kWaitUntilMax);
    }
    if (append_.code == absl::StatusCode::kOk) text_.append(lines.data(), lines.size());
    return append_.Make();
  }
  absl::Status Sync() override {
    absl::MutexLock lock(&mu_);
    ++syncs_;
    return sync_.Make();
  }

  void SetAppend(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    append_ = Outcome::Of(status);
  }
  void SetSync(const absl::Status& status) {
    absl::MutexLock lock(&mu_);
    sync_ = Outcome::Of(status);
  }
  // While closed, Append() waits.
  void SetOpen(bool open) {
    absl::MutexLock lock(&mu_);
    open_ = open;
    changed_.NotifyAll();
  }
  // Waits until Append() was called `attempts` times.
  void AwaitAttempts(int attempts) {
    WaitUntil([&] { return this->attempts() >= attempts; },
              absl::StrCat(attempts, " attempts to append to the audit log"));
  }
  int attempts() const {
    absl::MutexLock lock(&mu_);
    return attempts_;
  }
  int syncs() const {
    absl::MutexLock lock(&mu_);
    return syncs_;
  }
  // The stored entries; empty where the chain is broken.
  std::vector<AuditEntry> Entries() const {
    absl::MutexLock lock(&mu_);
    std::vector<AuditEntry> entries;
    ChainVerifier chain({.on_line = [&](const AuditLine& line) { entries.push_back(line.entry); }});
    chain.BeginFile("log");
    chain.Feed(text_);
    chain.EndFile();
    return chain.End().ok() ? entries : std::vector<AuditEntry>();
  }

 private:
  // A status that threads may share. The reference counts of absl::Status are changed inside the library, which the
  // thread sanitizer does not see.
  struct Outcome {
    static Outcome Of(const absl::Status& status) { return {status.code(), std::string(status.message())}; }
    absl::Status Make() const { return absl::Status(code, message); }

    absl::StatusCode code = absl::StatusCode::kOk;
    std::string message;
  };

  mutable absl::Mutex mu_;
  SteadyCondVar changed_;
  std::string text_ ABSL_GUARDED_BY(mu_);
  Outcome append_ ABSL_GUARDED_BY(mu_);
  Outcome sync_ ABSL_GUARDED_BY(mu_);
  bool open_ ABSL_GUARDED_BY(mu_) = true;
  int attempts_ ABSL_GUARDED_BY(mu_) = 0;
  int syncs_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_FAKE_AUDIT_STORAGE_H_
