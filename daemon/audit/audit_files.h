// SPDX-License-Identifier: Apache-2.0
//
// The files of an audit log: PATH, which is written, and PATH.1 (newer) to PATH.N (older), which are kept.
//   SIDEBAND_ASSIGN_OR_RETURN(auto files, AuditFiles::Open({.path = "audit.jsonl"}));
//   files->end();   // where the chain goes on
//   SIDEBAND_RETURN_IF_ERROR(files->Append(lines));
#ifndef SIDEBAND_DAEMON_AUDIT_AUDIT_FILES_H_
#define SIDEBAND_DAEMON_AUDIT_AUDIT_FILES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "daemon/audit/audit_storage.h"
#include "daemon/audit/descriptor.h"
#include "proto/audit/entry.h"

namespace sideband::daemon {

// One thread appends and syncs; any may read.
class AuditFiles final : public AuditStorage {
 public:
  struct Options {
    std::string path;
    uint64_t max_bytes = 16 << 20;  // of one file; at least the longest line
    size_t files = 8;               // that are kept beside the one that is written
  };
  // Where the chain ended when the files were opened.
  struct ChainEnd {
    uint64_t sequence = 0;  // 0: there was no entry
    std::string head = kAuditNoPrev;
    uint64_t bytes_cut_off = 0;  // of a line that was not finished, and is no more
  };

  // Makes the file, with mode 0600, where there is none. FAILED_PRECONDITION where another process has it,
  // INVALID_ARGUMENT where its last line is not an entry: it is not for this program to judge what that is.
  static absl::StatusOr<std::unique_ptr<AuditFiles>> Open(Options options);
  ~AuditFiles() override;
  AuditFiles(const AuditFiles&) = delete;
  AuditFiles& operator=(const AuditFiles&) = delete;

  const ChainEnd& end() const { return end_; }
  // `lines` is at most Options::max_bytes. Begins a new file where they do not fit the old one.
  absl::Status Append(absl::string_view lines) override;
  absl::Status Sync() override;

  // Lines with a sequence above `after` from all files that are kept, oldest first, whole ones, at most `bytes_max`
  // bytes: what is left is to be asked for with the last sequence of the answer. Thread-safe.
  absl::StatusOr<std::string> ReadAfter(uint64_t after, size_t bytes_max);

 private:
  // A file and how much of it is there for readers.
  struct Readable {
    std::string name;
    Descriptor file;
    uint64_t size = 0;
  };

  explicit AuditFiles(Options options) : options_(std::move(options)) {}

  std::string Name(size_t number) const;
  absl::Status OpenFile();
  bool IsInPlace() const;
  absl::Status FindEnd();
  absl::Status CutOff();
  absl::Status Rotate();
  absl::Status ShiftNames() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Oldest first, without empty ones.
  absl::StatusOr<std::vector<Readable>> OpenForReading();
  // The newest file that begins with `after` or before: what came before it is not wanted.
  static absl::StatusOr<size_t> FirstToRead(const std::vector<Readable>& files, uint64_t after);
  // Whether there was room for all of them.
  static absl::StatusOr<bool> Collect(const Readable& file, uint64_t after, size_t bytes_max, std::string& lines);

  // Constant after Open().
  const Options options_;
  ChainEnd end_;
  // The appending thread's.
  Descriptor file_;       // closed where a new file could not be made
  bool is_torn_ = false;  // there is more in the file than size_ says

  absl::Mutex mu_;  // held while files are renamed, and by who opens them for reading
  uint64_t size_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_FILES_H_
