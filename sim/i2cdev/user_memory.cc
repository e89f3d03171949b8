// SPDX-License-Identifier: Apache-2.0
#include "sim/i2cdev/user_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sideband::i2cdev {
namespace {

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

// Lets the kernel copy, as it would for a driver: it checks every page.
bool Copy(Move move, void* ours, void* theirs, size_t size, void* to, const void* from) {
  if (size == 0) return true;
  if (to == nullptr || from == nullptr) return false;
  const iovec local = {.iov_base = ours, .iov_len = size};
  const iovec remote = {.iov_base = theirs, .iov_len = size};
  const ssize_t moved = move(getpid(), &local, 1, &remote, 1, 0);
  if (moved >= 0) return static_cast<size_t>(moved) == size;
  if (errno == EFAULT) return false;
  // The system call is not available; copies without a check.
  std::memcpy(to, from, size);
  return true;
}

}  // namespace

bool CopyIn(void* to, const void* from, size_t size) {
  return Copy(process_vm_readv, to, const_cast<void*>(from), size, to, from);
}

bool CopyOut(void* to, const void* from, size_t size) {
  return Copy(process_vm_writev, const_cast<void*>(from), to, size, to, from);
}

}  // namespace sideband::i2cdev
