// SPDX-License-Identifier: Apache-2.0
//
// File descriptors with an owner that closes them, and small files read completely. Only regular files are read, and
// opening never blocks: a FIFO without a writer must not hang a reload.
//   SIDEBAND_ASSIGN_OR_RETURN(const std::string pem, ReadFile(path, 1 << 20, FileTrust::kNotWritable));
//
//   const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return ErrnoStatus(errno, path);
#ifndef SIDEBAND_PROTO_BASE_FILE_H_
#define SIDEBAND_PROTO_BASE_FILE_H_

#include <unistd.h>

#include <cstddef>
#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace sideband {

// A file descriptor, or none (-1). Movable.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (is_open()) ::close(fd_);
  }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Passes the ownership to the caller.
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

inline constexpr size_t kFileSizeMax = 64 << 20;

// Permissions that a file must not grant. They concern the mode's last digit, other users; permissions of the file's
// group are the administrator's choice.
enum class FileTrust {
  kAny,          // no restriction
  kNotWritable,  // no other user may write or replace the file
  kPrivate,      // no other user may access the file, a private key, and kNotWritable holds
  kSecret,       // the same of a password or token, as which messages name it
};

// Opens the regular file at `path`. NOT_FOUND for a missing file; PERMISSION_DENIED for an unreadable file and for a
// violation of `trust`; INVALID_ARGUMENT for a directory, FIFO, socket or device. Messages start with the path. A trust
// other than kAny also checks the file's folder (for a link, the folders of the link and of the file): it must not be
// writable by other users, unless it is sticky, as /tmp is, or mounted read-only.
absl::StatusOr<Descriptor> OpenForReading(const std::string& path, FileTrust trust = FileTrust::kAny);

// The file's bytes. Errors of OpenForReading; OUT_OF_RANGE for a file larger than `size_max`.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t size_max = kFileSizeMax,
                                     FileTrust trust = FileTrust::kAny);
// Reads the remaining bytes of `fd`, of any kind (reading a pipe blocks); `name` appears in messages.
absl::StatusOr<std::string> ReadDescriptor(int fd, const std::string& name, size_t size_max);

// An absl::Status for `errno_value` with the message "PATH: system error".
absl::Status ErrnoStatus(int errno_value, const std::string& path);

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_FILE_H_
