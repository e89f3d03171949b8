// SPDX-License-Identifier: Apache-2.0
//
// The file descriptors of a process that stand for /dev/i2c-N. Each is a real one, the socket that is connected to the
// virtual bus, so that whatever a program does with descriptors (close, poll, fork, limits) keeps its meaning.
//   BusFiles& files = BusFiles::OfProcess();
//   if (const auto fd = files.Open("/dev/i2c-3", O_RDWR)) return *fd;                     // else it is for the system
//   if (const auto result = files.Ioctl(fd, request, argument)) return *result;           // likewise
#ifndef SIDEBAND_SIM_I2CDEV_BUS_FILES_H_
#define SIDEBAND_SIM_I2CDEV_BUS_FILES_H_

#include <sys/types.h>

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "proto/smbus/i2cdev_buses.h"
#include "sim/i2cdev/virtual_adapter.h"

namespace sideband::i2cdev {

// Thread-safe, and fit for calls before main(). Results are those of the system calls, or minus an errno; nothing where
// the path or the descriptor is not a virtual bus's.
class BusFiles {
 public:
  // Descriptors from here on cannot be a bus's.
  static constexpr int kDescriptorsMax = 4096;
  // How long the program behind the socket may take for a transaction. That is not the bus's time-out, which is about
  // the time on the wire.
  static constexpr absl::Duration kPatience = absl::Seconds(2);

  // As in kI2cDevVariable and kI2cDevFuncsVariable. What is wrong with them is said, once, when a bus is opened.
  BusFiles(const std::string& buses, const std::string& functionality);
  // That of the environment as it is at the first call.
  static BusFiles& OfProcess();
  // Whether the process has ever opened a bus: until then, no descriptor needs a look.
  static bool EverOpened() { return ever_opened_.load(std::memory_order_relaxed); }

  // Whether `path` is /dev/i2c-N, of whatever bus. It may be null.
  static bool IsI2cDev(const char* path);
  std::optional<int> Open(const char* path, int flags);
  std::optional<int> Ioctl(int fd, unsigned long request, unsigned long argument);
  std::optional<ssize_t> Read(int fd, void* buffer, size_t size);
  std::optional<ssize_t> Write(int fd, const void* buffer, size_t size);
  // `to` has become another name of `from`.
  void Duplicated(int from, int to);

 private:
  // An open file: what a descriptor shares with its duplicates.
  struct File {
    File(std::string path_, int flags_, VirtualAdapter::Options options)
        : path(std::move(path_)), flags(flags_), adapter(options) {}
    const std::string path;
    const int flags;
    absl::Mutex mu;
    VirtualAdapter adapter ABSL_GUARDED_BY(mu);
  };
  // A connection to a bus. A descriptor may be closed and used anew without our knowledge (close_range, a child before
  // exec); the inode tells whether it still is that connection.
  struct Connection {
    dev_t device = 0;
    ino_t inode = 0;
    std::shared_ptr<File> file;
    // Out of step with the bus, or without one: it is made anew at the next use, as an adapter comes back.
    mutable std::atomic<bool> broken = false;
  };
  using ConnectionPtr = std::shared_ptr<const Connection>;

  ConnectionPtr Find(int fd) const;
  void Set(int fd, std::shared_ptr<File> file);
  // 0, or minus an errno.
  int Reconnect(int fd, const Connection& connection);
  std::optional<ssize_t> Use(
      int fd, const std::function<ssize_t(const File&, VirtualAdapter&, const VirtualAdapter::Carry&)>& act);
  // Tells what is wrong with the environment.
  int Refuse();

  static std::atomic<bool> ever_opened_;
  std::array<std::atomic<ConnectionPtr>, kDescriptorsMax> connections_;
  smbus::I2cDevBuses buses_;
  VirtualAdapter::Options options_;
  std::string mistake_;  // of the environment; empty where there is none
  std::atomic<bool> mistake_told_ = false;
};

}  // namespace sideband::i2cdev

#endif  // SIDEBAND_SIM_I2CDEV_BUS_FILES_H_
