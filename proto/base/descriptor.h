// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor with an owner that closes it.
//   const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
//   if (!file.is_open()) return ErrnoStatus(errno, path);
#ifndef SIDEBAND_PROTO_BASE_DESCRIPTOR_H_
#define SIDEBAND_PROTO_BASE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace sideband {

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

}  // namespace sideband

#endif  // SIDEBAND_PROTO_BASE_DESCRIPTOR_H_
