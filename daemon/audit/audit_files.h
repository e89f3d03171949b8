// SPDX-License-Identifier: Apache-2.0
//
// The files of an audit log: PATH, which is written, and PATH.1 (newest) to PATH.N (oldest), which are kept.
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
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "proto/audit/chain.h"
#include "proto/base/file.h"

namespace sideband::daemon {

// The storage of an audit log's lines. Called by one thread at a time.
class AuditStorage {
 public:
  virtual ~AuditStorage() = default;
  // Appends whole lines, each with its line break. After an error, none of them is stored.
  virtual absl::Status Append(absl::string_view lines) = 0;
  // Makes appended lines survive a power failure.
  virtual absl::Status Sync() = 0;
};

// One thread appends and syncs; any thread may read.
class AuditFiles final : public AuditStorage {
 public:
  struct Options {
    std::string path;
    uint64_t max_bytes = 16 << 20;  // of one file; at least the longest line
    size_t files = 8;               // kept files, besides the file that is written
  };
  // The end of the chain when the files were opened.
  struct ChainEnd {
    uint64_t sequence = 0;  // 0: no entry yet
    std::string head = kAuditNoPrev;
    uint64_t bytes_cut_off = 0;  // length of an unfinished last line, which is removed
  };

  // Creates a missing file with mode 0600. FAILED_PRECONDITION where another process writes the file. INVALID_ARGUMENT
  // where the file is not regular, or its last line is not an entry; its contents stay unchanged, since it may be
  // another kind of file.
  static absl::StatusOr<std::unique_ptr<AuditFiles>> Open(Options options);
  ~AuditFiles() override;
  AuditFiles(const AuditFiles&) = delete;
  AuditFiles& operator=(const AuditFiles&) = delete;

  const ChainEnd& end() const { return end_; }
  // `lines` has at most Options::max_bytes bytes. Starts a new file where they do not fit into the current file.
  absl::Status Append(absl::string_view lines) override;
  absl::Status Sync() override;

  // Returns whole lines with a sequence above `after` from all kept files, oldest first, at most `bytes_max` bytes. The
  // caller requests further lines with the last sequence of the result. Thread-safe.
  absl::StatusOr<std::string> ReadAfter(uint64_t after, size_t bytes_max);

 private:
  // A file and the number of its bytes that readers may see.
  struct Readable {
    std::string name;
    Descriptor file;
    uint64_t size = 0;
  };

  explicit AuditFiles(Options options) : options_(std::move(options)) {}

  std::string Name(size_t number) const;
  absl::Status OpenFile();
  // Once the file is known to be an audit log, or to go on as one.
  absl::Status RestrictToOwner();
  bool IsInPlace() const;
  absl::Status FindEnd();
  absl::Status CutOff();
  absl::Status Rotate();
  absl::Status ShiftNames() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Oldest first, without empty files.
  absl::StatusOr<std::vector<Readable>> OpenForReading();
  // The index of the newest file whose first sequence is at most `after`. Older files have no requested line.
  static absl::StatusOr<size_t> FirstToRead(const std::vector<Readable>& files, uint64_t after);
  // Returns false where `bytes_max` does not suffice for all lines.
  static absl::StatusOr<bool> Collect(const Readable& file, uint64_t after, size_t bytes_max, std::string& lines);

  // Constant after Open().
  const Options options_;
  ChainEnd end_;
  // Used by the appending thread only.
  Descriptor file_;       // closed where a new file could not be opened
  bool is_torn_ = false;  // the file is longer than size_

  absl::Mutex mu_;  // held while files are renamed or opened for reading
  uint64_t size_ ABSL_GUARDED_BY(mu_) = 0;
};

// Reads the lines of an open audit file.

// Returns the bytes [offset, offset + size) of the file, or fewer at its end. `path` is for messages.
absl::StatusOr<std::string> ReadAt(int fd, uint64_t offset, size_t size, const std::string& path);

// Calls `take` with each line of the file's first `size` bytes, including its line break, until it returns false. Bytes
// after the last line break are left out, unless they are more than an entry may have: DATA_LOSS.
absl::Status ForEachLine(int fd, uint64_t size, const std::string& path,
                         absl::FunctionRef<bool(absl::string_view)> take);

// The sequence at the start of an entry's line; DATA_LOSS where the line has no sequence.
absl::StatusOr<uint64_t> SequenceOf(absl::string_view line, const std::string& path);

}  // namespace sideband::daemon

#endif  // SIDEBAND_DAEMON_AUDIT_AUDIT_FILES_H_
