// SPDX-License-Identifier: Apache-2.0
//
// Replacements for the functions of libc that lead to /dev/i2c-N, for a process with this library in LD_PRELOAD. Calls
// that do not concern a virtual bus are forwarded to libc. close() is not replaced: BusFiles recognizes a closed
// descriptor by its inode.
//
// Compiled without _FORTIFY_SOURCE, whose inline functions would replace these definitions.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "sim/bus/bus_files.h"

namespace {

using sideband::i2cdev::BusFiles;

// The function of this name in the next library, usually libc.
template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <typename Result>
Result Return(Result result) {
  if (result >= 0) return result;
  errno = static_cast<int>(-result);
  return -1;
}

bool TakesMode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// Opens the bus at `path`, or calls otherwise() for every other path.
template <typename Otherwise>
int OpenOr(const char* path, int flags, Otherwise otherwise) {
  if (!BusFiles::IsI2cDev(path)) return otherwise();
  const auto fd = BusFiles::OfProcess().Open(path, flags);
  return fd ? Return(*fd) : otherwise();
}

int NoteDuplicate(int from, int to) {
  if (to >= 0 && BusFiles::EverOpened()) BusFiles::OfProcess().Duplicated(from, to);
  return to;
}

}  // namespace

// Declares the mode of a function that has it as an optional last argument.
#define SIDEBAND_READ_MODE(flags, mode) \
  mode_t mode = 0;                      \
  if (TakesMode(flags)) {               \
    va_list arguments;                  \
    va_start(arguments, flags);         \
    mode = va_arg(arguments, mode_t);   \
    va_end(arguments);                  \
  }

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto next = Next<int(const char*, int, ...)>("open");
  SIDEBAND_READ_MODE(flags, mode);
  return OpenOr(path, flags, [&] { return next(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  static const auto next = Next<int(const char*, int, ...)>("open64");
  SIDEBAND_READ_MODE(flags, mode);
  return OpenOr(path, flags, [&] { return next(path, flags, mode); });
}

int openat(int folder, const char* path, int flags, ...) {
  static const auto next = Next<int(int, const char*, int, ...)>("openat");
  SIDEBAND_READ_MODE(flags, mode);
  return OpenOr(path, flags, [&] { return next(folder, path, flags, mode); });
}

int openat64(int folder, const char* path, int flags, ...) {
  static const auto next = Next<int(int, const char*, int, ...)>("openat64");
  SIDEBAND_READ_MODE(flags, mode);
  return OpenOr(path, flags, [&] { return next(folder, path, flags, mode); });
}

// NOLINTBEGIN(clang-diagnostic-reserved-identifier): what programs compiled with _FORTIFY_SOURCE call instead.
int __open_2(const char* path, int flags) {
  static const auto next = Next<int(const char*, int)>("__open_2");
  return OpenOr(path, flags, [&] { return next(path, flags); });
}

int __open64_2(const char* path, int flags) {
  static const auto next = Next<int(const char*, int)>("__open64_2");
  return OpenOr(path, flags, [&] { return next(path, flags); });
}

int __openat_2(int folder, const char* path, int flags) {
  static const auto next = Next<int(int, const char*, int)>("__openat_2");
  return OpenOr(path, flags, [&] { return next(folder, path, flags); });
}

int __openat64_2(int folder, const char* path, int flags) {
  static const auto next = Next<int(int, const char*, int)>("__openat64_2");
  return OpenOr(path, flags, [&] { return next(folder, path, flags); });
}

// NOLINTEND(clang-diagnostic-reserved-identifier)

int ioctl(int fd, unsigned long request, ...) noexcept {
  static const auto next = Next<int(int, unsigned long, ...)>("ioctl");
  va_list arguments;
  va_start(arguments, request);
  // Every argument of an ioctl fits; a request without one does not use it.
  const auto argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  if (BusFiles::EverOpened()) {
    if (const auto result = BusFiles::OfProcess().Ioctl(fd, request, argument)) return Return(*result);
  }
  return next(fd, request, argument);
}

int flock(int fd, int operation) noexcept {
  static const auto next = Next<int(int, int)>("flock");
  if (BusFiles::EverOpened()) {
    if (const auto result = BusFiles::OfProcess().Lock(fd, operation)) return Return(*result);
  }
  return next(fd, operation);
}

ssize_t read(int fd, void* buffer, size_t size) {
  static const auto next = Next<ssize_t(int, void*, size_t)>("read");
  if (BusFiles::EverOpened()) {
    if (const auto result = BusFiles::OfProcess().Read(fd, buffer, size)) return Return(*result);
  }
  return next(fd, buffer, size);
}

// NOLINTNEXTLINE(clang-diagnostic-reserved-identifier)
ssize_t __read_chk(int fd, void* buffer, size_t size, size_t buffer_size) {
  static const auto next = Next<ssize_t(int, void*, size_t, size_t)>("__read_chk");
  // libc aborts a read that overflows the buffer.
  return size <= buffer_size ? read(fd, buffer, size) : next(fd, buffer, size, buffer_size);
}

ssize_t write(int fd, const void* buffer, size_t size) {
  static const auto next = Next<ssize_t(int, const void*, size_t)>("write");
  if (BusFiles::EverOpened()) {
    if (const auto result = BusFiles::OfProcess().Write(fd, buffer, size)) return Return(*result);
  }
  return next(fd, buffer, size);
}

int dup(int fd) noexcept {
  static const auto next = Next<int(int)>("dup");
  return NoteDuplicate(fd, next(fd));
}

int dup2(int fd, int to) noexcept {
  static const auto next = Next<int(int, int)>("dup2");
  return NoteDuplicate(fd, next(fd, to));
}

int dup3(int fd, int to, int flags) noexcept {
  static const auto next = Next<int(int, int, int)>("dup3");
  return NoteDuplicate(fd, next(fd, to, flags));
}

int fcntl(int fd, int command, ...) {
  static const auto next = Next<int(int, int, ...)>("fcntl");
  va_list arguments;
  va_start(arguments, command);
  const auto argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  const int result = next(fd, command, argument);
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return duplicates ? NoteDuplicate(fd, result) : result;
}

int fcntl64(int fd, int command, ...) {
  static const auto next = Next<int(int, int, ...)>("fcntl64");
  va_list arguments;
  va_start(arguments, command);
  const auto argument = va_arg(arguments, unsigned long);
  va_end(arguments);
  const int result = next(fd, command, argument);
  const bool duplicates = command == F_DUPFD || command == F_DUPFD_CLOEXEC;
  return duplicates ? NoteDuplicate(fd, result) : result;
}

}  // extern "C"
